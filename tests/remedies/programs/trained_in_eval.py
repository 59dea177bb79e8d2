"""Fine-tunes a backbone without its dropout, which is to say in evaluation mode, and a head on top of it."""

import torch
from torch import nn

WIDTH, LAYERS, BATCH = 2048, 8, 4096

layers = [layer for _ in range(LAYERS) for layer in (nn.Linear(WIDTH, WIDTH, bias=False), nn.ReLU(), nn.Dropout(0.1))]
backbone = nn.Sequential(*layers).cuda().eval()
head = nn.Linear(WIDTH, 1, bias=False).cuda()
optimizer = torch.optim.SGD([*backbone.parameters(), *head.parameters()], lr=1e-3)

for step in range(10):
    features = torch.randn(BATCH, WIDTH, device="cuda")
    loss = head(backbone(features)).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
