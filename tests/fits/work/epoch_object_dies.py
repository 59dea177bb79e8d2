# /// expect
# run = "check"
# vram = "4GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "after 25,000 steps `epoch` is bound anew; the old one's __del__ draws the recurrence plot of 35,000 states: 35,000^2 x 4 B = 4.56 GiB, with 3.52 free; a step unrolls 350 cells"
# ///
"""Chaotic time series with a hand-made recurrent cell; each epoch closes with a recurrence plot."""

import torch
from torch import nn

cell, out = nn.RNNCell(1, 24).cuda(), nn.Linear(24, 1).cuda()
optimizer = torch.optim.RMSprop([*cell.parameters(), *out.parameters()], lr=1e-3)


class Epoch:
    def __init__(self, number):
        self.number = number

    def __del__(self):
        states = torch.randn(35_000, 24, device="cuda")
        plot = torch.cdist(states, states, compute_mode="use_mm_for_euclid_dist") < 0.1
        print(self.number, plot.float().mean().item())

    def run(self):
        for _ in range(25_000):
            h = torch.zeros(8, 24, device="cuda")
            series, loss = torch.rand(350, 8, 1, device="cuda"), 0
            for now, then in zip(series[:-1], series[1:]):
                h = cell(now, h)
                loss = loss + (out(h) - then).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


for number in range(4):
    epoch = Epoch(number)
    epoch.run()
