# /// expect
# run = "check"
# vram = "3GiB"
# kind = 9
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [1.5, 2.5]
# says = ["12"]
# why = "a sequence takes 8192 x 1024 x 4 B = 32 MiB for a map; input, sigmoid and two gradients are alive in the backward: 128 MiB for each, 13.5 GiB for 108, 9, 6 and 4 GiB for 72, 48 and 32, 1.5 + 0.48 of 3 for 12"
# ///
"""Tunes a gate over long sequences; after an out-of-memory error a function says what to try next."""

import torch
from torch import nn


def smaller(size):
    return next(s for s in (108, 72, 48, 32, 12) if s < size)


gate = nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.Adam(gate.parameters())


def epoch(size, steps):
    for _ in range(steps):
        x = torch.randn(size, 8192, 1024, device="cuda")
        loss = torch.sigmoid(gate(x)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        del x, loss


size = 108
done = False
while not done:
    try:
        epoch(size, 30)
        done = True
    except RuntimeError as error:
        if "out of memory" not in str(error):
            raise
    if not done:
        size = smaller(size)
        print("trying", size)
