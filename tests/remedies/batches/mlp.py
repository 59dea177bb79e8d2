"""Activations of about 10 MiB each, where the allocator's ways of making segments change."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=8)
args = parser.parse_args()

layers = [nn.Linear(4096, 4096, device="cuda") for _ in range(6)]
model = nn.Sequential(*(part for layer in layers for part in (layer, nn.ReLU())))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    features = torch.randn(args.batch_size, 60, 4096, device="cuda")
    optimizer.zero_grad()
    model(features).square().mean().backward()
    optimizer.step()
