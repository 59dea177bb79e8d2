# /// expect
# run = "check"
# vram = "6GiB"
# kind = 10
# truth = "fits"
# verdict = ["fits"]
# need_gib = [0.9, 3.2]
# why = "six buckets of data of 32,768 x 512 x 4 B = 64 MiB; which of them is drawn changes no size"
# ///
"""A curriculum: Python's random.choices draws the next bucket with weights that are the buckets' last losses."""

import random

import torch
from torch import nn

BUCKETS, ROWS, WIDTH, STEPS = 6, 32768, 512, 9


class Curriculum:
    def __init__(self):
        self.data = [torch.randn(ROWS, WIDTH, device="cuda") * (1 + index) for index in range(BUCKETS)]
        self.last = {}

    def draw(self):
        if len(self.last) < BUCKETS:
            return len(self.last)
        names = list(self.last)
        return random.choices(names, weights=[self.last[name] for name in names])[0]


random.seed(2)
curriculum = Curriculum()
model = nn.Sequential(nn.Linear(WIDTH, 64), nn.Tanh(), nn.Linear(64, WIDTH)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(STEPS):
    name = curriculum.draw()
    x = curriculum.data[name]
    loss = (model(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    curriculum.last[name] = loss.item()
