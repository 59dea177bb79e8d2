"""Residual blocks in a ModuleList, on far more rows than weights."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=8192)
parser.add_argument("--depth", type=int, default=6)
args = parser.parse_args()


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.expand = nn.Linear(width, 4 * width, bias=False)
        self.act = nn.GELU()
        self.contract = nn.Linear(4 * width, width, bias=False)

    def forward(self, x):
        return x + self.contract(self.act(self.expand(x)))


class Net(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


model = Net(256, args.depth).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(args.rows, 256, device="cuda")
for step in range(3):
    optimizer.zero_grad()
    loss = model(x).mean()
    loss.backward()
    optimizer.step()
