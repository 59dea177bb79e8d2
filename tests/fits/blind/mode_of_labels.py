# /// expect
# run = "check"
# vram = "6GiB"
# kind = 8
# truth = "fits"
# verdict = ["fits"]
# need_gib = [0.4, 3.0]
# open = "no answer, expected fits"
# why = "torch.mode(out=) writes 12 over the 400,000 that the buffer began with: 12 x 65,536 x 4 B = 3 MiB; with the old value it would be 98 GiB"
# ///
"""The commonest number of neighbours sizes a table; mode writes into buffers that held a sentinel."""

import torch
from torch import nn

NODES, COMMON, WIDTH, SENTINEL, STEPS = 300_000, 12, 65536, 400_000, 3


def commonest(degrees):
    value, place = torch.full((1,), SENTINEL, device="cuda"), torch.full((1,), -1, device="cuda")
    torch.mode(degrees, 0, True, out=(value, place))
    return int(value)


degrees = torch.full((NODES,), COMMON)
degrees[::3] = torch.arange(NODES // 3) % 50 + 13
size = commonest(degrees.cuda())
table = nn.Parameter(torch.zeros(size, WIDTH, device="cuda"))
optimizer = torch.optim.Adam([table], lr=0.1)
for step in range(STEPS):
    rows = torch.randint(size, (64,), device="cuda")
    loss = (table[rows] - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("rows", size)
