"""Trains an autoencoder, and keeps the loss of each step for a plot."""

import torch
import torch.nn.functional as F
from torch import nn

model = nn.Sequential(nn.Linear(1024, 64), nn.ReLU(), nn.Linear(64, 1024)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []
for step in range(5):
    x = torch.randn(1024, 1024, device="cuda")
    loss = F.mse_loss(model(x), x)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    losses.append(loss.detach())
print(torch.stack(losses))
