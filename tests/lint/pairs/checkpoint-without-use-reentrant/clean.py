"""Trains a network of which one block is computed again in backward."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

block = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1024)).cuda()
head = nn.Linear(1024, 10).cuda()
optimizer = torch.optim.SGD([*block.parameters(), *head.parameters()], lr=0.1)
for step in range(3):
    x = torch.randn(1024, 1024, device="cuda", requires_grad=True)
    y = torch.randint(10, (1024,), device="cuda")
    loss = F.cross_entropy(head(checkpoint(block, x, use_reentrant=False)), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
