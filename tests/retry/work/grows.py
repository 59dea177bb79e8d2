"""The model of `activations.py`: the first step sees few rows, the second one as many as `activations.py`."""

import torch
from torch import nn

WIDTH = 1024


def block() -> nn.Module:
    return nn.Sequential(*[layer for _ in range(4) for layer in (nn.Linear(WIDTH, WIDTH), nn.Sigmoid())])


with open("runs.txt", "a") as file:
    file.write("x")
model = nn.Sequential(*[block() for _ in range(16)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for rows in (64, 8192):
    model(torch.randn(rows, WIDTH, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print("trained")
