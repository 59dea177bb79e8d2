"""The batch size is a constant, and more than the batches depend on it."""

from __future__ import annotations

import torch
from torch import nn

BATCH_SIZE = 256
FEATURES = 1024


def batches(count: int):
    for _ in range(count):
        yield torch.randn(BATCH_SIZE, FEATURES)


def main():
    model = nn.Sequential(nn.Linear(FEATURES, 4096), nn.ReLU(), nn.Linear(4096, 16)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    real = torch.ones(BATCH_SIZE, dtype=torch.long, device="cuda")
    for features in batches(3):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(features.cuda()), real)
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
