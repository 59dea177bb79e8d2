# /// expect
# run = "check"
# vram = "2GiB"
# kind = 4
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [1.4, 1.85]
# why = "the heap has at most 64 candidates of 16 MiB, and one more while it is compared: 1,040 MiB; a step has 250 layers, and there are 15,000"
# ///
"""Evolves a policy by hand and by gradient; the 64 most novel behaviours are kept on the device."""

import heapq

import torch
from torch import nn

policy = nn.Sequential(*[m for _ in range(250) for m in (nn.Linear(16, 16), nn.LayerNorm(16), nn.GELU())]).cuda()
optimizer = torch.optim.SGD(policy.parameters(), lr=1e-3)
archive = []
for step in range(15_000):
    seen = torch.randn(64, 16, device="cuda")
    acted = policy(seen)
    loss = (acted - seen).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    behaviour = torch.randn(1 << 18, 16, device="cuda")
    entry = (step * 7919 % 10_007, step, behaviour)
    if len(archive) < 64:
        heapq.heappush(archive, entry)
    else:
        heapq.heappushpop(archive, entry)
