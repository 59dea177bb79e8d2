# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "fits"
# verdict = ["fits"]
# need_gib = [0.4, 1.0]
# why = "__format__ joins three floats of the host; five epochs of 60 equal steps of a few MiB"
# ///
"""Denoises heart sounds; the running figures of an epoch format themselves."""

import torch
from torch import nn


class Figures:
    def __init__(self):
        self.values = []

    def add(self, value):
        self.values.append(float(value))

    def __format__(self, spec):
        low, high = min(self.values), max(self.values)
        return f"{low:{spec}} .. {high:{spec}}, mean {sum(self.values) / len(self.values):{spec}}"


net = nn.Sequential(nn.Conv1d(1, 12, 15, padding=7), nn.Tanh(), nn.Conv1d(12, 1, 15, padding=7)).cuda()
optimizer = torch.optim.Adam(net.parameters())
for epoch in range(5):
    figures = Figures()
    for _ in range(60):
        sound = torch.randn(8, 1, 2_000, device="cuda")
        optimizer.zero_grad()
        loss = nn.functional.l1_loss(net(sound + 0.2 * torch.randn_like(sound)), sound)
        loss.backward()
        optimizer.step()
        figures.add(loss)
    print(f"epoch {epoch}: {figures:.4f}")
