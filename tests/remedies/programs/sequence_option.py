"""Sequences as long as `--seq-len` says, of 1024 features each."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--seq-len", type=int, default=32)
args = parser.parse_args()

model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 16)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    features = torch.randn(8, args.seq_len, 1024, device="cuda")
    optimizer.zero_grad()
    model(features).square().mean().backward()
    optimizer.step()
