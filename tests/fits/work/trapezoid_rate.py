# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "fits"
# verdict = ["fits"]
# need_gib = [0.4, 1.0]
# why = "the scheduler returns numbers by three branches; every step has one picture of 96 x 96"
# ///
"""Fits an implicit picture with a trapezoidal rate."""

import torch
from torch import nn
from torch.optim.lr_scheduler import LRScheduler


class Trapezoid(LRScheduler):
    def __init__(self, optimizer, up, down, end):
        self.up, self.down, self.end = up, down, end
        super().__init__(optimizer)

    def get_lr(self):
        t = self.last_epoch
        if t < self.up:
            scale = (t + 1) / self.up
        elif t < self.down:
            scale = 1.0
        else:
            scale = max(0.0, (self.end - t) / (self.end - self.down))
        return [base * scale for base in self.base_lrs]


siren = nn.Sequential(nn.Linear(2, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 3)).cuda()
optimizer = torch.optim.Adam(siren.parameters(), lr=1e-3)
rate = Trapezoid(optimizer, up=20, down=200, end=260)
line = torch.linspace(-1, 1, 96, device="cuda")
place = torch.cartesian_prod(line, line)
picture = torch.rand(96 * 96, 3, device="cuda")
for step in range(260):
    optimizer.zero_grad()
    (siren(place) - picture).square().mean().backward()
    optimizer.step()
    rate.step()
