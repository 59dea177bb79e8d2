"""Trains a small head on a wide frozen body."""

import torch
from torch import nn

body = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU()).cuda()
head = nn.Linear(4096, 1).cuda()
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
x = torch.randn(4096, 1024, device="cuda")
for step in range(4):
    with torch.no_grad():
        features = body(x)
    loss = head(features).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    del features, loss
    torch.cuda.empty_cache()
