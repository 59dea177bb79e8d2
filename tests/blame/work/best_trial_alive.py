# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "earlier-model"
# first_finding = ["earlier-model-alive"]
# lines = [20, 21, 29, 28, 36, 26]
# why = "a trial has 32 x 2048 x 2048 x 4 B = 512 MiB of weights, as much of gradients and twice of moments: 2 GiB; the best one is only asked for its score, but is alive with all of it when the second trial trains: 4 + 0.48 and 0.5 for a step's temporaries, of 4; alone 2.5 + 0.48"
# ///
"""Tries four rates for a tower; the best trial is remembered."""

import torch
from torch import nn


class Trial:
    def __init__(self, rate):
        self.rate = rate
        self.net = nn.Sequential(*[nn.Linear(2048, 2048, bias=False) for _ in range(32)]).cuda()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=rate)

    def train(self, steps=3):
        for _ in range(steps):
            x = torch.randn(64, 2048, device="cuda")
            loss = (self.net(x) - x).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        self.score = loss.item()
        return self


best = None
for rate in (1e-2, 1e-3, 1e-4, 1e-5):
    trial = Trial(rate).train()
    if best is None or trial.score < best.score:
        best = trial
print("best rate", best.rate, "with", best.score)
