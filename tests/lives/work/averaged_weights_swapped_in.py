# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["save"]
# form = "a counter in a dict"
# need_gib = [1.9, 2.6]
# why = "weights, average, the copy of the weights that the swap makes, each 131,072 x 1,024 x 4 B = 0.5 GiB; the gradient is freed before the swap, and was 0.5: at most 2 GiB and the context"
# ///
"""Embeddings of words with an exponential average; a checkpoint holds the average, swapped in for the time of the save."""

import io

import torch
from torch import nn

model = nn.Embedding(131_072, 1024, device="cuda")
average = model.weight.detach().clone()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
state = {"step": 0, "saves": 0}


def save():
    backup = model.weight.detach().clone()
    with torch.no_grad():
        model.weight.copy_(average)
        torch.save({"step": state["step"], "head": model.weight[:16].cpu()}, io.BytesIO())
        model.weight.copy_(backup)
    state["saves"] += 1


while state["step"] < 2000:
    words = torch.randint(131_072, (64, 2), device="cuda")
    left, right = model(words).unbind(1)
    loss = -nn.functional.logsigmoid((left * right).sum(1)).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    average.lerp_(model.weight.detach(), 0.01)
    state["step"] += 1
    if state["step"] % 900 == 0:
        save()
