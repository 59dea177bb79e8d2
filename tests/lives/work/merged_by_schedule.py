# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["save"]
# step = 801
# line = 33
# open = "stage steps, expected save"
# form = "for range, schedule.get(step)"
# need_gib = [6.8, 7.4]
# why = "the frozen base is 16 x 128 MiB = 2 GiB in bfloat16; merged in float32 for the export 16 x 256 MiB = 4 GiB, with two temporary tensors of 256 MiB: 6.5 GiB, with 4.55 free"
# ///
"""Adapters of low rank on a frozen base; a schedule says at which steps the merged weights are exported."""

import io

import torch
from torch import nn


class Adapted(nn.Module):
    def __init__(self, width, rank):
        super().__init__()
        self.base = nn.Linear(width, width, bias=False, device="cuda", dtype=torch.bfloat16).requires_grad_(False)
        self.down = nn.Linear(width, rank, bias=False, device="cuda")
        self.up = nn.Linear(rank, width, bias=False, device="cuda")

    def forward(self, x):
        return self.base(x.bfloat16()).float() + self.up(self.down(x))

    def merge(self):
        return self.base.weight.float() + self.up.weight @ self.down.weight


def export(model, step):
    with torch.no_grad():
        merged = {f"layers.{n}.weight": layer.merge() for n, layer in enumerate(model)}
    torch.save(list(merged), io.BytesIO())
    print("exported at", step)


def halve_rate(model, step):
    for group in optimizer.param_groups:
        group["lr"] /= 2


model = nn.Sequential(*[Adapted(8192, 8) for _ in range(16)])
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-4)
schedule = {400: halve_rate, 800: export, 1000: halve_rate}
for step in range(1, 1201):
    x = torch.randn(4, 8192, device="cuda")
    loss = (model(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    action = schedule.get(step)
    if action is not None:
        action(model, step)
