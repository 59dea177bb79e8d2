"""A model split by hand over cuda:0 and cuda:1: needs two devices."""

import torch
from torch import nn

first = nn.Linear(1024, 4096).to("cuda:0")
second = nn.Linear(4096, 10).to("cuda:1")
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()])
for _ in range(3):
    x = torch.randn(64, 1024, device="cuda:0")
    y = torch.randint(10, (64,), device="cuda:1")
    loss = nn.functional.cross_entropy(second(first(x).relu().to("cuda:1")), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
for device in range(2):
    print(device, torch.cuda.max_memory_allocated(device))
