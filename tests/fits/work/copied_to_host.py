# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [0.4, 1.2]
# why = "every 5,000 steps a copy of 300 layers of 40 x 40 weights (2 MiB) is made and moved to the CPU; nothing grows on the device"
# ///
"""Averages checkpoints of a deep narrow net on the host."""

import copy

import torch
from torch import nn


class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(40, 40) for _ in range(300))

    def forward(self, x):
        for layer in self.layers:
            x = x + 0.1 * torch.nn.functional.silu(layer(x))
        return x


deep, copies = Deep().cuda(), []
optimizer = torch.optim.AdamW(deep.parameters(), lr=1e-4)
for step in range(1, 30_001):
    x = torch.randn(32, 40, device="cuda")
    loss = (deep(x) - x.flip(1)).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5_000 == 0:
        copies.append(copy.deepcopy(deep).cpu())
mean = {name: sum(c.state_dict()[name] for c in copies) / len(copies) for name in deep.state_dict()}
print(len(mean))
