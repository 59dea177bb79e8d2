# /// expect
# run = "check"
# vram = "6GiB"
# kind = 8
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [0.6, 4.0]
# why = "the running maximum of 2,000 steps ends at 999: a table of 1,000 x 65,536 x 4 B = 0.24 GiB, with its gradient 0.5 GiB; a stale value would give another size"
# ///
"""Sizes a position table by the running maximum of a schedule, kept in buffers that cummax writes into."""

import torch
from torch import nn

POSITIONS, WIDTH, BATCH, STEPS = 1000, 65536, 64, 3

schedule = (torch.arange(2 * POSITIONS) * 7 % POSITIONS).cuda()
running, where = torch.full_like(schedule, 123_456), torch.zeros_like(schedule)
torch.cummax(schedule, dim=0, out=(running, where))
size = int(running[-1]) + 1
table = nn.Embedding(size, WIDTH, device="cuda")
optimizer = torch.optim.SGD(table.parameters(), lr=0.1)
for step in range(STEPS):
    rows = torch.randint(POSITIONS, (BATCH,), device="cuda")
    loss = table(rows).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("positions", size)
