# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "fits"
# verdict = ["fits"]
# need_gib = [0.4, 0.9]
# why = "the epoch is printed and decides between two learning rates and two words; every batch has 64 rows: a few MiB"
# ///
"""Tunes a wine-quality regressor for forty epochs; the epoch chooses a word and a rate."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(11, 128), nn.ReLU(), nn.Linear(128, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(40):
    phase = "warm" if epoch < 25 else "fine"
    rate = 0.1 if epoch < 25 else 0.001
    for group in optimizer.param_groups:
        group["lr"] = rate
    total = 0.0
    for _ in range(10):
        wine = torch.rand(64, 11, device="cuda")
        optimizer.zero_grad()
        loss = nn.functional.huber_loss(model(wine).squeeze(1), wine.sum(1))
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"[{phase}] epoch {epoch + 1}: {total / 10:.4f}")
