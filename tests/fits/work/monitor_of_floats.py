# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "fits"
# verdict = ["fits"]
# need_gib = [0.4, 1.0]
# why = "`if drift` compares two floats and prints late; 320 equal steps of 512 rows"
# ///
"""Estimates friction; an object that is true reports drift of the loss."""

import torch
from torch import nn


class Drift:
    def __init__(self, patience):
        self.patience, self.best, self.bad = patience, float("inf"), 0

    def feed(self, value):
        self.bad = 0 if value < self.best else self.bad + 1
        self.best = min(self.best, value)
        return self

    def __bool__(self):
        return self.bad > self.patience


net = nn.Sequential(nn.Linear(12, 96), nn.CELU(), nn.Linear(96, 1)).cuda()
optimizer = torch.optim.NAdam(net.parameters())
drift = Drift(200)
for step in range(320):
    joint = torch.rand(512, 12, device="cuda")
    loss = nn.functional.mse_loss(net(joint), joint.prod(dim=1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if drift.feed(loss.item()):
        print("no progress since", drift.bad, "steps, best", drift.best)
