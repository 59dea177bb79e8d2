"""Trains a multilayer perceptron with SGD on random features."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--momentum", type=float, default=0.0)
args = parser.parse_args()

model = nn.Sequential(*[layer for _ in range(8) for layer in (nn.Linear(2048, 2048), nn.GELU())]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=args.momentum)

for step in range(10):
    features = torch.randn(64, 2048, device="cuda")
    loss = model(features).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
