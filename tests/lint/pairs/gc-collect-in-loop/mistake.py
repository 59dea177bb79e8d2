"""Trains a classifier."""

import gc

import torch
import torch.nn.functional as F
from torch import nn

model = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(8):
    x = torch.randn(256, 1024, device="cuda")
    y = torch.randint(10, (256,), device="cuda")
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    gc.collect()
