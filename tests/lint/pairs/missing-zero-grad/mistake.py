"""Distils a wide teacher into a small student."""

import torch
import torch.nn.functional as F
from torch import nn

teacher = nn.Sequential(nn.Linear(1024, 16384), nn.ReLU(), nn.Linear(16384, 1024)).cuda()
student = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1024)).cuda()
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
x = torch.randn(1024, 1024, device="cuda")
for step in range(4):
    with torch.no_grad():
        target = teacher(x)
    loss = F.l1_loss(student(x), target)
    loss.backward()
    optimizer.step()
