# /// expect
# run = "check"
# vram = "6GiB"
# kind = 8
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [26]
# need_gib = [8, 26]
# why = "torch.cumsum(out=) writes the offsets, the last is 1,048,576 rows: 1,048,576 x 2048 x 4 B = 8 GiB; the buffer held zeros"
# ///
"""Jagged batches: offsets of the rows are written by cumsum into a buffer that is made once."""

import torch
from torch import nn

SEGMENTS, ROWS, WIDTH, STEPS = 4096, 256, 2048, 15

offsets = torch.zeros(SEGMENTS + 1, dtype=torch.long, device="cuda")
model = nn.Linear(WIDTH, 4).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(STEPS):
    lengths = torch.full((SEGMENTS,), ROWS)
    lengths[step % SEGMENTS] += 1
    lengths[(step + 1) % SEGMENTS] -= 1
    torch.cumsum(lengths.cuda(), 0, out=offsets[1:])
    values = torch.randn(int(offsets[-1]), WIDTH, device="cuda")
    segment = torch.searchsorted(offsets[1:], torch.arange(len(values), device="cuda"), right=True)
    pooled = torch.zeros(SEGMENTS, 4, device="cuda").index_add(0, segment, model(values))
    loss = pooled.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
