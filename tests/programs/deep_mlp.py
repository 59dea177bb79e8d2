"""A 20-layer MLP for --steps steps: many cheap steps, to time what oomph adds to each."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=300)
args = parser.parse_args()

layers = [layer for _ in range(20) for layer in (nn.Linear(1024, 1024), nn.ReLU())]
model = nn.Sequential(*layers, nn.Linear(1024, 10)).cuda()
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(128, 1024, device="cuda")
y = torch.randint(10, (128,), device="cuda")
for _ in range(args.steps):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
