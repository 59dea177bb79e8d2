# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["later-steps"]
# step = 901
# line = 26
# form = "for range, step % n == 0 in a method"
# need_gib = [6.4, 7.0]
# why = "a step has noise of 2^29 x 4 B = 2 GiB; each evaluation, every 300 steps, appends 1 GiB: after the third 3 + 2 = 5 GiB with 4.55 free; after the fourth 6"
# ///
"""Fits a filter to noise; each evaluation appends the spectrum of its residue to a history that a plot reads at the end."""

import torch
from torch import nn


class Study:
    def __init__(self):
        self.scale = nn.Parameter(torch.ones(1024, device="cuda"))
        self.optimizer = torch.optim.Adam([self.scale], lr=1e-2)
        self.history = []

    def step(self):
        noise = torch.randn(1 << 19, 1024, device="cuda")
        loss = (self.scale * noise[0] - 1).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def evaluate(self):
        with torch.no_grad():
            self.history.append(torch.zeros(1 << 18, 1024, device="cuda"))
            self.history[-1].add_(self.scale)

    def run(self, steps):
        for step in range(1, steps + 1):
            self.step()
            if step % 300 == 0:
                self.evaluate()


study = Study()
study.run(1500)
print(len(study.history), study.history[-1][0].sum())
