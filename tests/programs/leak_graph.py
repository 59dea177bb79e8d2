"""A big leak: a second loss is kept with its whole graph, because nothing ever calls backward on it."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=30)
args = parser.parse_args()

model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(2048, 1024, device="cuda")
y = torch.randint(10, (2048,), device="cuda")
total = 0.0
for _ in range(args.steps):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    monitored = nn.functional.cross_entropy(model(x), y)
    total = total + monitored  # the leak: keeps each step's graph
