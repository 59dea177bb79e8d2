"""Gradient accumulation: four backward passes for each optimizer step."""

import torch
from torch import nn

ACCUMULATE = 4
model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 10)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for i in range(3 * ACCUMULATE):
    x = torch.randn(32, 512, device="cuda")
    y = torch.randint(10, (32,), device="cuda")
    (nn.functional.cross_entropy(model(x), y) / ACCUMULATE).backward()
    if (i + 1) % ACCUMULATE == 0:
        optimizer.step()
        optimizer.zero_grad()
