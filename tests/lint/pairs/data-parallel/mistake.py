"""Trains a classifier of many classes on two GPUs."""

import torch
import torch.nn.functional as F
from torch import nn

model = nn.Linear(64, 16384).cuda()
model = nn.DataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(4096, 64).cuda()
    y = torch.randint(16384, (4096,)).cuda()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
