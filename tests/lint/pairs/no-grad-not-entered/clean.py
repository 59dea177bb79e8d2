"""Classifies one batch."""

import torch
from torch import nn

layers = [layer for _ in range(6) for layer in (nn.Linear(1024, 1024), nn.ReLU())]
model = nn.Sequential(*layers, nn.Linear(1024, 10)).cuda()
model.eval()
x = torch.randn(1024, 1024, device="cuda")
with torch.no_grad():
    classes = model(x).argmax(1)
print(classes[:10])
