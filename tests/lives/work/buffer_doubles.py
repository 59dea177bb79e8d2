# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["next-epoch", "later-steps"]
# step = 1051
# line = 27
# open = "stage steps, expected next-epoch or later-steps"
# form = "itertools.product over rounds and batches"
# need_gib = [8.4, 11.0]
# why = "after each of four rounds of 350 steps 1 GiB is joined to the buffer: join k holds the new GiB, k - 1 of before and k joined, 2 k GiB: 6 in the third, after 1,050 steps, with 5.55 free; 8 in the fourth"
# ///
"""Self-play in rounds: what a round has gathered is joined to the buffer of all rounds before."""

from itertools import product

import torch
from torch import nn

value = nn.Linear(256, 1, device="cuda")
optimizer = torch.optim.SGD(value.parameters(), lr=0.1)
buffer = torch.zeros(16, 256, device="cuda")
for number, (round_, batch) in enumerate(product(range(5), range(350))):
    if batch == 0 and round_ > 0:
        gathered = torch.randn(1 << 20, 256, device="cuda")
        buffer = torch.cat([buffer, gathered])
        del gathered
    rows = buffer[torch.randint(16, (32,), device="cuda")]
    loss = (value(rows) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
