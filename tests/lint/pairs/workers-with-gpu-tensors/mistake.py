"""Trains a linear classifier."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

model = nn.Linear(1024, 10).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
images = torch.randn(8192, 1024).cuda()
labels = torch.randint(10, (8192,)).cuda()
loader = DataLoader(TensorDataset(images, labels), batch_size=1024, num_workers=2)  # oomph: ignore[dataset-on-gpu]
for x, y in loader:
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
