# /// expect
# run = "check"
# vram = "2GiB"
# kind = 4
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [1.3, 1.85]
# why = "72 grids of 1920 x 2048 x 4 B = 15 MiB are 1,080 MiB; the cache drops the oldest for the next"
# ///
"""Fits waves of a thousand frequencies; the grids of the last 72 frequencies are cached."""

import functools

import torch
from torch import nn


@functools.lru_cache(maxsize=72)
def grid(frequency):
    line = torch.linspace(0, frequency, 2048, device="cuda")
    return torch.sin(line).expand(1920, -1).contiguous()


wave = nn.Parameter(torch.zeros(2048, device="cuda"))
optimizer = torch.optim.LBFGS([wave], max_iter=1)


def closure():
    optimizer.zero_grad()
    error = (grid(frequency)[:32] - wave).square().mean()
    error.backward()
    return error


for frequency in range(1, 1001):
    optimizer.step(closure)
print(grid.cache_info())
