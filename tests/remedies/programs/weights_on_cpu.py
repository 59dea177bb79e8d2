"""Trains a small network on the CPU, in float64, and writes its weights to the file that is named."""
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 4)).double()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
features, labels = torch.randn(256, 16).double(), torch.randint(4, (256,))
loader = DataLoader(TensorDataset(features, labels), batch_size=64)
for epoch in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
torch.save([p.detach() for p in model.parameters()], sys.argv[1])
