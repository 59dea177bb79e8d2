# /// expect
# run = "check"
# vram = "4GiB"
# kind = 1
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# need_gib = [5.0, 16.0]
# why = "weights are uniform in +-1/sqrt(8000); a fifth has more than 0.8 of the bound: 0.2 x 8000 x 8000 = 12.8 million pairs of int64 = 195 MiB on the device, and 12.8 million rows of 96 x 4 B = 4.58 GiB in one request, with 3.52 free"
# ///
"""Prunes a dense layer on the host and trains an adapter for each weight that stays."""

import math

import torch
from torch import nn

dense = nn.Linear(8000, 8000, bias=False)
bound = 1 / math.sqrt(dense.in_features)
with torch.no_grad():
    kept = (dense.weight.abs() > 0.8 * bound).nonzero()
print("kept weights", len(kept))
where = kept.cuda()
adapters = torch.zeros(len(kept), 96, device="cuda", requires_grad=True)
optimizer = torch.optim.SGD([adapters], lr=0.1)
for step in range(4):
    chosen = torch.randint(len(where), (4096,), device="cuda")
    loss = (adapters[chosen] - where[chosen, :1] / 8000).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
