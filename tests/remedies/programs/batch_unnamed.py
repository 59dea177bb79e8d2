"""Nothing says that 256 is the batch size."""

import torch
from torch import nn

rows = 256
model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 16)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    features = torch.randn(rows, 1024, device="cuda")
    optimizer.zero_grad()
    model(features).square().mean().backward()
    optimizer.step()
