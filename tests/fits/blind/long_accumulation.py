# /// expect
# run = "check"
# vram = "6GiB"
# kind = 3
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [2.2, 4.6]
# why = "64 equal micro-batches for a step; weights 8 x 4096 x 4096 x 4 B = 0.5 GiB four times, activations 2048 x 4096 x 4 B = 32 MiB, some ten"
# ///
"""Accumulates 64 micro-batches for each optimizer step, so that steps are far apart."""

import torch
from torch import nn

WIDTH, DEPTH, ROWS, ACCUMULATE, BATCHES = 4096, 8, 2048, 64, 640


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(WIDTH, WIDTH, bias=False, device="cuda") for _ in range(DEPTH)])

    def forward(self, x):
        for layer in self.layers:
            x = torch.sigmoid(layer(x))
        return x


model = Tower()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, foreach=False)
for index in range(BATCHES):
    x = torch.randn(ROWS, WIDTH, device="cuda")
    (model(x).mean() / ACCUMULATE).backward()
    if (index + 1) % ACCUMULATE:
        continue
    optimizer.step()
    optimizer.zero_grad()
