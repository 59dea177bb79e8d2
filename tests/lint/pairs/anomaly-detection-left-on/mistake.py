"""Trains a classifier."""

import torch
import torch.nn.functional as F
from torch import nn

torch.autograd.set_detect_anomaly(True)
model = nn.Sequential(*(nn.Linear(64, 64) for _ in range(64)), nn.Linear(64, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(256, 64, device="cuda")
    y = torch.randint(10, (256,), device="cuda")
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
