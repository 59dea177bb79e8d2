# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "fits"
# verdict = ["fits"]
# need_gib = [0.4, 1.0]
# why = "the function of the schedule computes with math only; 300 equal steps of a few MiB"
# ///
"""Segments crops by colour with a schedule of warm-up, plateau and cosine."""

import math

import torch
from torch import nn


def schedule(step, warm=30, flat=210, end=300):
    if step < warm:
        return step / warm
    if step < flat:
        return 1.0
    return 0.5 * (1 + math.cos(math.pi * (step - flat) / (end - flat)))


net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 2, 1)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, schedule)
for step in range(300):
    picture = torch.rand(4, 3, 48, 48, device="cuda")
    green = (picture[:, 1] > picture[:, 0]).long()
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(picture), green).backward()
    optimizer.step()
    scheduler.step()
    if step % 100 == 0:
        print(step, scheduler.get_last_lr())
