# /// expect
# run = "check"
# vram = "2GiB"
# kind = 4
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [1.3, 1.85]
# why = "the key is the day modulo 68, so 68 fields of 16 MiB are 1,088 MiB; 1,100 steps"
# ///
"""Downscales a season of 68 days over and over; the fields of a day are made once."""

from functools import cache

import torch
from torch import nn


@cache
def field(day):
    phase = torch.arange(1 << 22, device="cuda", dtype=torch.float32)
    return phase.mul_(0.001 * (day + 1)).sin_()


down = nn.Conv1d(1, 1, 9, stride=4).cuda()
optimizer = torch.optim.Adam(down.parameters(), lr=0.01)
for step in range(1_100):
    today = field(step % 68)[None, None, :4096]
    loss = down(today).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
