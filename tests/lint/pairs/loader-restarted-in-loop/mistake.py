"""Trains four steps."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(8192, 1024), torch.randint(10, (8192,))), batch_size=256, num_workers=2)
model = nn.Linear(1024, 10).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    x, y = next(iter(loader))
    x, y = x.cuda(), y.cuda()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
