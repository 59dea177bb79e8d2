# /// expect
# run = "check"
# vram = "2GiB"
# kind = 4
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [1.2, 1.85]
# why = "an epoch keeps 65 maps of 16 MiB = 1,040 MiB for its mean; the next epoch begins with an empty list; 12 epochs"
# ///
"""Estimates attention of drivers; the mean of an epoch's maps is printed."""

import torch
from torch import nn

gaze = nn.Conv2d(1, 4, 3, padding=1).cuda()
optimizer = torch.optim.RMSprop(gaze.parameters())


def epoch(number):
    heat = []
    for _ in range(65):
        eye = torch.rand(16, 1, 256, 256, device="cuda")
        predicted = gaze(eye)
        loss = predicted.std()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        heat.append(predicted[:, 0].detach().clone().repeat(4, 1, 1))
    means = [h.mean() for h in heat]
    print(number, sum(means).item() / len(means))


for number in range(12):
    epoch(number)
