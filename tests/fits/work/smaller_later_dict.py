# /// expect
# run = "check"
# vram = "3GiB"
# kind = 5
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [0.9, 2.5]
# why = "sizes fall from 120,000 to 1,000 rows: at first hidden and ReLU of 120,000 x 1024 x 4 B = 469 MiB, with gradients at most four of them, 1.83 GiB; with a context 2.31 of 3"
# ///
"""Simulates annealed batch sizes: large batches first, small ones to finish."""

import torch
from torch import nn

SIZES = {0: 120_000, 50: 20_000, 200: 1_000}

net = nn.Sequential(nn.Linear(16, 1024), nn.ReLU(inplace=True), nn.Linear(1024, 2)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.02)
size = 0
for step in range(300):
    size = SIZES.get(step, size)
    point = torch.randn(size, 16, device="cuda")
    side = (point.norm(dim=1) > 4).long()
    loss = nn.functional.cross_entropy(net(point), side)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
