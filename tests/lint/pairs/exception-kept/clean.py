"""Tries batch after batch, and keeps why one failed."""

import torch
from torch import nn

model = nn.Linear(1024, 1024).cuda()


def score(rows):
    x = torch.randn(rows, 1024, device="cuda")
    return model(x).repeat(1, 4096).mean().item()


failures = []
for rows in (4096, 4096, 4096, 4096):
    try:
        score(rows)
    except torch.OutOfMemoryError as error:
        failures.append(str(error))
print(len(failures))
