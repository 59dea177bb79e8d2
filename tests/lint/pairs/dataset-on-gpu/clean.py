"""Trains a linear classifier."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

images = torch.randn(8192, 1024)
labels = torch.randint(10, (8192,))
loader = DataLoader(TensorDataset(images, labels), batch_size=1024)
model = nn.Linear(1024, 10).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    x, y = x.cuda(), y.cuda()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
