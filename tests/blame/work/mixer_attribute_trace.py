# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "intermediates-kept"
# first_finding = ["saved-intermediates", "growing-collection", "retained-graph"]
# lines = [29, 30]
# why = "each of three layers appends its gate, 64 x 256 x 1024 x 4 B = 64 MiB, in every step: 192 MiB a step; the step itself needs about 0.6 GiB besides, so 4710 MiB are full in about the 21st of 80"
# ///
"""Gated token mixer for traffic counts, trained; the gates are recorded to see which sensors are ignored."""

import torch
from torch import nn
from torch.nn import functional as F


class GatedMixer(nn.Module):
    def __init__(self, width=256, hidden=1024):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.enter = nn.Linear(width, hidden)
        self.gate = nn.Linear(width, hidden)
        self.leave = nn.Linear(hidden, width)
        self.trace = []

    def forward(self, x):
        h = self.norm(x)
        gate = torch.sigmoid(self.gate(h))
        self.trace.append(gate.detach())
        return x + self.leave(self.enter(h) * gate)


class TrafficModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([GatedMixer() for _ in range(3)])
        self.head = nn.Linear(256, 12)

    def forward(self, counts):
        for layer in self.layers:
            counts = layer(counts)
        return self.head(counts)

    def ignored(self):
        return [(gate < 0.1).float().mean().item() for layer in self.layers for gate in layer.trace[-1:]]


model = TrafficModel().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(80):
    counts = torch.randn(64, 256, 256, device="cuda")
    future = torch.randn(64, 256, 12, device="cuda")
    optimizer.zero_grad()
    loss = F.mse_loss(model(counts), future)
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(step, loss.item(), model.ignored())
