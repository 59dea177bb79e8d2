# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["worst-batches", "steps"]
# form = "curriculum of a dict, inner accumulation"
# need_gib = [0.8, 2.3]
# why = "each level has windows twice as long, in twice as many micro-batches of half the rows: always 16,384 samples x 2,048 x 4 B = 128 MiB for an activation; the tanh and two gradients are 0.375 GiB"
# ///
"""Longer windows level by level; the rows of a micro-batch shrink as their length grows, and accumulation makes up for it."""

import torch
from torch import nn

LEVELS = {512: 1, 1024: 2, 2048: 4, 4096: 8}
filters = nn.Sequential(nn.Linear(1, 2048), nn.Tanh(), nn.Linear(2048, 1)).cuda()
optimizer = torch.optim.RMSprop(filters.parameters(), lr=1e-4)
for window, micro in LEVELS.items():
    for update in range(160):
        for _ in range(micro):
            signal = torch.randn(16_384 // window, window, 1, device="cuda")
            loss = (filters(signal) - signal.cumsum(1)).square().mean() / micro
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print("level", window)
