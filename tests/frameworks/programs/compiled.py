"""torch.compile of a training step: `--mode`, and `--dynamic` for batches that vary."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--mode", default="default")
parser.add_argument("--dynamic", action="store_true")
args = parser.parse_args()

model = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.LayerNorm(2048), nn.Linear(2048, 512)).cuda()
compiled = torch.compile(model, mode=args.mode, dynamic=args.dynamic or None)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for index in range(5):
    rows = 64 + 32 * index if args.dynamic else 64
    x = torch.randn(rows, 512, device="cuda")
    loss = compiled(x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
