"""Forks before the first CUDA call, waits for the child, then trains from forked DataLoader workers."""

import os
import sys

import torch
from torch.utils.data import DataLoader, TensorDataset

child = os.fork()
if child == 0:
    os._exit(0)
_, status = os.waitpid(child, 0)
if status != 0:
    sys.exit(f"the child ended with status {status}")

data = TensorDataset(torch.randn(64, 32), torch.randn(64, 1))
loader = DataLoader(data, batch_size=16, num_workers=2, multiprocessing_context="fork")
model = torch.nn.Linear(32, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = torch.nn.functional.mse_loss(model(x.cuda()), y.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
