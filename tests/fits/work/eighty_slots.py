# /// expect
# run = "check"
# vram = "2GiB"
# kind = 4
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [1.4, 1.85]
# why = "80 slots of 3584 x 1024 x 4 B = 14 MiB are 1,120 MiB, and one more while a slot is replaced; 1,000 steps would be 13.7 GiB"
# ///
"""Noise-robust sensor model that mixes in noise it has heard in the last eighty steps."""

import torch
from torch import nn

slots = [None] * 80
model = nn.Linear(1024, 4).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(1_000):
    slots[step % len(slots)] = torch.randn(3584, 1024, device="cuda")
    old = slots[(step * 7) % min(step + 1, len(slots))]
    x = torch.rand(64, 1024, device="cuda") + 0.1 * old[:64]
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
