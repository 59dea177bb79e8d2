# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# kind = 3
# why = "the parametrization of the last layer audits its 9,000th call with 2^30 random numbers of half precision and their float copy: 2 + 4 GiB, with 2.52 free; a step has 45 recurrent blocks of twelve ticks"
# ///
"""Deep recurrent tracker; a parametrization keeps a weight orthogonal and audits itself now and then."""

import torch
from torch import nn
from torch.nn.utils import parametrize


class Skew(nn.Module):
    def __init__(self, audit_at):
        super().__init__()
        self.audit_at, self.calls = audit_at, 0

    def forward(self, weight):
        self.calls += 1
        if self.calls == self.audit_at:
            sample = torch.randn(1 << 20, 1 << 10, device=weight.device, dtype=torch.half)
            print("audit", sample.float().mean().item())
        return weight.triu(1) - weight.triu(1).t()


class Track(nn.Module):
    def __init__(self, width=20):
        super().__init__()
        self.cell, self.drop = nn.GRUCell(width, width), nn.LayerNorm(width)

    def forward(self, x):
        h = torch.zeros_like(x)
        for _ in range(12):
            h = self.drop(self.cell(x, h))
        return x + h


last = parametrize.register_parametrization(nn.Linear(20, 20), "weight", Skew(9_000))
tracker = nn.Sequential(*[Track() for _ in range(45)], last).cuda()
optimizer = torch.optim.Adam(tracker.parameters(), lr=1e-3)
while True:
    position = torch.randn(32, 20, device="cuda")
    loss = (tracker(position) - position.cumsum(1)).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if last.parametrizations.weight[0].calls > 40_000:
        break
