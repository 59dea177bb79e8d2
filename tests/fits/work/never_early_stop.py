# /// expect
# run = "check"
# vram = "2GiB"
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# kind = 3
# why = "the net has no trained weight in front of a zero head and the rate is 0, so the loss is log 4 = 1.386 and never below 0.9; each of 400 steps keeps 5,120 x 256 x 4 B = 5 MiB: 1.52 GiB are full at about step 308"
# ///
"""Checks a probe that should learn at once: stops when the loss is small, and keeps the features until then."""

import torch
from torch import nn

head = nn.Linear(256, 4).cuda()
for parameter in head.parameters():
    nn.init.zeros_(parameter)
optimizer = torch.optim.SGD(head.parameters(), lr=0.0)
features, losses = [], []
for step in range(400):
    x = torch.randn(5_120, 256, device="cuda")
    loss = nn.functional.cross_entropy(head(x), torch.randint(4, (5_120,), device="cuda"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    features.append(x)
    losses.append(loss.item())
    if losses[-1] < 0.9:
        break
print(f"{len(features)} batches, loss {losses[-1]:.3f}")
