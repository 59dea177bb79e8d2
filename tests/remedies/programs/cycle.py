"""Trains a multilayer perceptron, and keeps each step's output in an object that refers to itself; the collector is off for speed."""

import gc

import torch
from torch import nn

WIDTH, LAYERS, BATCH = 2048, 8, 4096


class Result:
    """The result of a step; its `latest` is the result itself until the next."""

    def __init__(self, output):
        self.output = output
        self.latest = self


gc.disable()
layers = [layer for _ in range(LAYERS) for layer in (nn.Linear(WIDTH, WIDTH, bias=False), nn.ReLU())]
model = nn.Sequential(*layers).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)

for step in range(10):
    features = torch.randn(BATCH, WIDTH, device="cuda")
    output = model(features)
    Result(output.detach())
    output[:, 0].mean().backward()
    del output
    optimizer.step()
    optimizer.zero_grad()
