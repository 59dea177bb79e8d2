"""An option `--batch-size`, and batches made on the GPU."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", "-b", type=int, default=256)
parser.add_argument("--eval-batch-size", type=int, default=1024)
parser.add_argument("--epochs", type=int, default=3)
args = parser.parse_args()

model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 16)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(args.epochs):
    features = torch.randn(args.batch_size, 1024, device="cuda")
    optimizer.zero_grad()
    model(features).square().mean().backward()
    optimizer.step()
