"""Trains a multilayer perceptron, and evaluates it on a larger batch after each step, without a thought of gradients."""

import torch
from torch import nn

WIDTH, LAYERS, BATCH, HELD_OUT = 2048, 8, 256, 4096

layers = [layer for _ in range(LAYERS) for layer in (nn.Linear(WIDTH, WIDTH, bias=False), nn.ReLU())]
model = nn.Sequential(*layers, nn.Linear(WIDTH, 1, bias=False)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
held_out = torch.randn(HELD_OUT, WIDTH, device="cuda")


def evaluate():
    model.eval()
    loss = model(held_out).mean()
    model.train()
    return loss.item()


for step in range(10):
    features = torch.randn(BATCH, WIDTH, device="cuda")
    loss = model(features).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    evaluate()
