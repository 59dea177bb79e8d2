# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["save"]
# form = "generator of batches, step in milestones"
# need_gib = [2.6, 3.1]
# why = "eight tables of 0.25 GiB; a step has the gradient of one; a save takes one after the other to the host"
# ///
"""Saves at milestones; each table goes to the host by itself, so the GPU never holds a second copy."""

import torch
from torch import nn


class Drain:
    """A file that keeps nothing."""

    written = 0

    def write(self, data):
        self.written += len(data)
        return len(data)

    def flush(self): ...


def batches(count):
    for k in range(count):
        yield k, torch.arange(k, k + 32) * 7 % 65_536


milestones = {400, 900, 1300}
tables = nn.ModuleList(nn.Embedding(65_536, 1024, device="cuda") for _ in range(8))
optimizer = torch.optim.SGD(tables.parameters(), lr=0.01)
for step, ids in batches(1400):
    loss = tables[step % 8](ids.cuda()).norm(dim=1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step in milestones:
        for name, tensor in tables.state_dict().items():
            piece = tensor[:1024].cpu()
            torch.save({name: piece}, Drain())
