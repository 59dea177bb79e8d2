"""A program with an unused option `--batch-size`."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=256)
args = parser.parse_args()

model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 16)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    features = torch.randn(256, 1024, device="cuda")
    optimizer.zero_grad()
    model(features).square().mean().backward()
    optimizer.step()
