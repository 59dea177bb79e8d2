# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 28
# requested_bytes = 1094713344
# says_any = ["seen"]
# culprit = 28
# steps = 3
# ///
"""Calls empty_cache() in every step, which cannot help: a memo of the inputs grows by 1 GiB each step."""

import gc

import torch
from torch import nn

ROWS, WIDTH = 267264, 1024


class Sampler:
    def __init__(self):
        self.seen = {}

    def draw(self, epoch):
        if epoch not in self.seen:
            self.seen[epoch] = torch.rand(ROWS, WIDTH, device="cuda")
        return self.seen[epoch]


model = nn.Sequential(nn.Linear(WIDTH, 16), nn.Sigmoid(), nn.Linear(16, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
sampler = Sampler()
for epoch in range(30):
    loss = model(sampler.draw(epoch)).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    del loss
    gc.collect()
    torch.cuda.empty_cache()
    print("epoch", epoch, torch.cuda.memory_reserved() >> 20, "MiB")
