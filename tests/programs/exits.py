"""Leaves with sys.exit(3) after one training step."""

import sys

import torch

model = torch.nn.Linear(16, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.randn(8, 16, device="cuda")).sum().backward()
optimizer.step()
sys.exit(3)
