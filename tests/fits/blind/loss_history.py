# /// expect
# run = "check"
# vram = "6GiB"
# kind = 4
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [1.4, 3.6]
# why = "512 B of losses a step for 20,000 steps are 10 MiB; weights 6 x 4096 x 4096 x 4 B = 0.38 GiB, gradients and momentum as much"
# ///
"""Keeps every loss as a tensor on the GPU to plot it at the end: growth, but ten megabytes in all."""

import torch
from torch import nn

WIDTH, DEPTH, BATCH, STEPS = 4096, 6, 128, 20_000

with torch.device("cuda"):
    model = nn.Sequential(*[nn.Linear(WIDTH, WIDTH) for _ in range(DEPTH)])
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
history = []
for step in range(STEPS):
    x = torch.randn(BATCH, WIDTH, device="cuda")
    loss = (model(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.detach())
print("mean of the last hundred", torch.stack(history[-100:]).mean().item())
