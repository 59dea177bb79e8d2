# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "at step 150,000 the event wakes the evaluator, which scores 6 million items of width 128: 2.86 GiB in one request, with 1.52 free"
# ///
"""Trains item embeddings while an evaluator thread waits for the signal that training is nearly done."""

import threading

import torch
from torch import nn

items = nn.Embedding(20_000, 128).cuda()
optimizer = torch.optim.SGD(items.parameters(), lr=0.5)
nearly_done = threading.Event()


def evaluator():
    nearly_done.wait()
    catalogue = torch.randn(6_000_000, 128, device="cuda")
    with torch.no_grad():
        best = (catalogue @ items.weight[0]).argmax()
    print("best", best.item())


thread = threading.Thread(target=evaluator, daemon=True)
thread.start()
for step in range(180_000):
    pair = torch.randint(20_000, (2, 64), device="cuda")
    a, b = items(pair[0]), items(pair[1])
    loss = nn.functional.softplus(-(a * b).sum(1)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 150_000:
        nearly_done.set()
nearly_done.set()
thread.join()
