"""Trains in mixed precision."""

import torch
import torch.nn.functional as F
from torch import nn

layers = [layer for _ in range(6) for layer in (nn.Linear(1024, 1024), nn.ReLU())]
model = nn.Sequential(*layers).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(64, 1024, device="cuda")
y = torch.randn(64, 1024, device="cuda")
for step in range(4):
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = F.mse_loss(model(x), y)
        loss.backward()
    optimizer.step()
