"""16 blocks of four layers keep 64 activations of 32 MiB for backward, 2 GiB; in checkpoints they keep 16 and compute four again."""

import torch
from torch import nn

WIDTH, ROWS = 1024, 8192


def block() -> nn.Module:
    return nn.Sequential(*[layer for _ in range(4) for layer in (nn.Linear(WIDTH, WIDTH), nn.Sigmoid())])


with open("runs.txt", "a") as file:
    file.write("x")
model = nn.Sequential(*[block() for _ in range(16)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    model(torch.randn(ROWS, WIDTH, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print("trained")
