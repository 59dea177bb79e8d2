# /// expect
# run = "check"
# vram = "4GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "every 4,000 steps torch.save pickles the run, whose __getstate__ makes distances of 30,000 x 30,000 x 4 B = 3.35 GiB and their sorted copy (with indices over 10 GiB); a step unrolls 300 cells"
# ///
"""Sensor forecaster, unrolled by hand; a checkpoint carries the neighbour table of the sensors."""

import torch
from torch import nn


class Run:
    def __init__(self):
        self.sensors = nn.Embedding(30_000, 8).cuda()
        self.cell = nn.LSTMCell(8, 64).cuda()
        self.out = nn.Linear(64, 1).cuda()
        self.step = 0

    def parameters(self):
        return [*self.sensors.parameters(), *self.cell.parameters(), *self.out.parameters()]

    def __getstate__(self):
        position = self.sensors.weight.detach()
        neighbours = torch.cdist(position, position).argsort(dim=1)[:, :8]
        return {"step": self.step, "neighbours": neighbours.cpu()}


run = Run()
optimizer = torch.optim.Adam(run.parameters())
while run.step < 20_000:
    ids = torch.randint(30_000, (300, 16), device="cuda")
    h = c = torch.zeros(16, 64, device="cuda")
    loss = 0.0
    for sensor in ids:
        h, c = run.cell(run.sensors(sensor), (h, c))
        loss = loss + run.out(h).square().mean()
    optimizer.zero_grad()
    (loss / 300).backward()
    optimizer.step()
    run.step += 1
    if run.step % 4_000 == 0:
        torch.save(run, "run.pt")
