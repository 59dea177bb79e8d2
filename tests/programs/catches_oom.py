"""Catches OutOfMemoryError and tries again with half the batch, starting from --batch-size."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=2**20)
args = parser.parse_args()

model = nn.Sequential(nn.Linear(1024, 8192), nn.ReLU(), nn.Linear(8192, 1024)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def step(batch_size):
    """One training step."""
    x = torch.randn(batch_size, 1024, device="cuda")
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()


batch_size = args.batch_size
done = 0
while done < 3:
    try:
        step(batch_size)
        done += 1
    except torch.OutOfMemoryError:
        batch_size //= 2
        torch.cuda.empty_cache()
print(f"batch size {batch_size}")
