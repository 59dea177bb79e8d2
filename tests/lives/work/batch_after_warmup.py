# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["steps"]
# step = 1201
# line = 28
# form = "for range, i == warmup"
# need_gib = [8.4, 10.9]
# why = "after 1,200 steps with 64 rows a batch has 131,072: 131,072 x 4,096 x 4 B = 2 GiB for the linear layer, its ReLU and the gradient of each: the third is refused, with 4.55 free; all four are 8 GiB, and the next input, 16 MiB, splits a free segment of 2"
# ///
"""Grows the batch instead of lowering the rate: once, when the warm-up is over."""

import torch
from torch import nn

warmup, rows = 1200, 64
first, last = nn.Linear(32, 4096).cuda(), nn.Linear(4096, 1).cuda()
optimizer = torch.optim.Adam([*first.parameters(), *last.parameters()], lr=1e-3)
for i in range(2000):
    if i == warmup:
        rows = 131_072
    x = torch.randn(rows, 32, device="cuda")
    hidden = first(x)
    loss = last(hidden.relu()).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
