# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["load"]
# step = 1
# line = 23
# form = "for over reversed(range)"
# need_gib = [8.4, 8.9]
# why = "distances of 32,768 x 32,768 positions are 4 GiB in single precision, and so is their absolute value beside them: 8 GiB with 5.55 free; the buffer that stays has 2 GiB"
# ///
"""Retention with a table of decays: the table is made in single precision and kept in half precision."""

import torch
from torch import nn


class Retention(nn.Module):
    def __init__(self, positions, width):
        super().__init__()
        place = torch.arange(positions, device="cuda", dtype=torch.float32)
        distance = (place[:, None] - place[None, :]).abs()
        distance = distance.mul_(-0.01).exp_()
        self.register_buffer("decay", distance.half())
        self.value = nn.Linear(width, width, device="cuda")

    def forward(self, x):
        n = x.shape[1]
        return self.decay[:n, :n].float() @ self.value(x)


model = Retention(32_768, 64)
optimizer = torch.optim.Adam(model.parameters())
for left in reversed(range(1500)):
    x = torch.randn(2, 32, 64, device="cuda")
    loss = (model(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
