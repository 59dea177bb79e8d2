# /// expect
# run = "run"
# vram = "4GiB"
# ends = "ok"
# status = 0
# ///
"""Trains a tiny model on the CPU: PyTorch without CUDA, and nothing to explain."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(64, 4)
y = x @ torch.tensor([[1.0], [2.0], [3.0], [4.0]])
first = last = None
for _ in range(20):
    loss = (model(x) - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    last = loss.item()
    first = last if first is None else first
assert last < first
assert not torch.cuda.is_initialized()
print("the loss fell")
