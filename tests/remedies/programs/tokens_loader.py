"""Residual blocks on sequences from a DataLoader."""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=1024)
args = parser.parse_args()


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.expand = nn.Linear(width, 4 * width, bias=False)
        self.act = nn.GELU()
        self.contract = nn.Linear(4 * width, width, bias=False)

    def forward(self, x):
        return x + self.contract(self.act(self.expand(x)))


model = nn.Sequential(*[Block(256) for _ in range(6)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loader = DataLoader(TensorDataset(torch.randn(4096, 8, 256)), batch_size=args.batch_size, shuffle=True)
for epoch in range(3):
    for step, (x,) in enumerate(loader):
        x = x.cuda()
        optimizer.zero_grad()
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
