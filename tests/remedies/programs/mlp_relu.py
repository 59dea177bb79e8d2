"""Trains a multilayer perceptron whose activations fill the device."""

import torch
from torch import nn

WIDTH, LAYERS, BATCH = 2048, 8, 4096

layers = [layer for _ in range(LAYERS) for layer in (nn.Linear(WIDTH, WIDTH, bias=False), nn.ReLU())]
model = nn.Sequential(*layers, nn.Linear(WIDTH, 1, bias=False)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)

for step in range(10):
    features = torch.randn(BATCH, WIDTH, device="cuda")
    loss = model(features).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
