# /// expect
# run = "check"
# vram = "8GiB"
# kind = 4
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [2.9, 5.5]
# why = "states of 65,536 x 1536 x 4 B = 0.375 GiB are collected for six steps, 2.25 GiB, then moved to the host's statistics and cleared"
# ///
"""Collects hidden states for a running covariance, which is updated and emptied every six steps."""

import torch
from torch import nn

ROWS, WIDTH, EVERY, STEPS = 65536, 1536, 6, 600


class Statistics:
    def __init__(self):
        self.pending = []
        self.covariance = torch.zeros(WIDTH, WIDTH)

    def add(self, states):
        self.pending.append(states.detach())
        if len(self.pending) == EVERY:
            for states in self.pending:
                self.covariance += (states.t() @ states / ROWS).cpu()
            self.pending.clear()


statistics = Statistics()
model = nn.Linear(WIDTH, WIDTH).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(STEPS):
    states = model(torch.randn(ROWS, WIDTH, device="cuda"))
    statistics.add(states)
    loss = states.mean().square()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
