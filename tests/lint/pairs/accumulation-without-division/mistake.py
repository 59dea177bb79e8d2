"""Gradient accumulation over four batches."""

import torch
import torch.nn.functional as F
from torch import nn

model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(8192, 256, device="cuda")
y = torch.randint(10, (8192,), device="cuda")
for i in range(8):
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
