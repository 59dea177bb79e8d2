# /// expect
# run = "check"
# vram = "2GiB"
# kind = 4
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [1.4, 1.85]
# why = "the reservoir has at most 64 rollouts of 16 MiB = 1 GiB, one more while it is made; the actor unrolls 300 cells in a step, so nobody waits for 20,000"
# ///
"""Recurrent actor with a reservoir of rollouts: full at 64, then each new one replaces an old one."""

import random

import torch
from torch import nn

CAPACITY, UPDATES = 64, 20_000


class Reservoir:
    def __init__(self):
        self.items, self.offered = [], 0

    def offer(self, item):
        self.offered += 1
        if len(self.items) < CAPACITY:
            self.items.append(item)
        else:
            place = random.randrange(self.offered)
            if place < CAPACITY:
                self.items[place] = item


reservoir = Reservoir()
cell, head = nn.GRUCell(32, 32).cuda(), nn.Linear(32, 1).cuda()
optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=3e-4)
for update in range(UPDATES):
    reservoir.offer(torch.randn(4096, 32, 32, device="cuda"))
    rollout = random.choice(reservoir.items)
    h = torch.zeros(32, 32, device="cuda")
    for tick in range(300):
        h = cell(rollout[tick], h)
    loss = head(h).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
