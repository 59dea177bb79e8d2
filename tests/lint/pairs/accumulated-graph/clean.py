"""Trains a classifier, and watches what a critic says of each batch."""

import torch
import torch.nn.functional as F
from torch import nn

model = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10)).cuda()
critic = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

total = 0.0
for step in range(5):
    x = torch.randn(1024, 1024, device="cuda")
    y = torch.randint(10, (1024,), device="cuda")
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    score = critic(x).mean()
    total += score.detach()
print(f"{total / 5:.4f}")
