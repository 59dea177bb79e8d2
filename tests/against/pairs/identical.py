# /// expect
# run = "against"
# vram = "4GiB"
# sentence = 'no difference: \d+ requests of 3 steps are equal; peak \S+ MiB in both'
# largest = "none"
# ///
"""The same program twice: adaptive state from the first step on, and a convolution."""

import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 30 * 30, 10)).cuda()
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    loss = model(torch.randn(8, 3, 32, 32, device="cuda")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
