"""Trains a multilayer perceptron with AdamW on random features."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, default=2048)
parser.add_argument("--layers", type=int, default=8)
parser.add_argument("--batch-size", type=int, default=64)
args = parser.parse_args()

model = nn.Sequential(*[layer for _ in range(args.layers) for layer in (nn.Linear(args.width, args.width), nn.GELU())]).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

for step in range(10):
    features = torch.randn(args.batch_size, args.width, device="cuda")
    loss = model(features).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
