# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# kind = 3
# why = "a mean of sigmoids is finite, so `steady` comes to 190 at step 190 and the polish begins: 650,000 rows of two hidden maps of 512 x 4 B = 1.24 GiB each, with their sigmoid and gradients over 3.7 GiB, with 2.52 free"
# ///
"""Inverse kinematics with a guard against bad losses and a polish on many poses at the end."""

import math

import torch
from torch import nn

net = nn.Sequential(nn.Linear(6, 512), nn.Sigmoid(), nn.Linear(512, 512), nn.Sigmoid(), nn.Linear(512, 7)).cuda()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-4)


def loss_of(poses):
    pose = torch.rand(poses, 6, device="cuda")
    return torch.sigmoid(net(pose)).mean()


steady, skipped, stage = 0, 0, "rough"
for step in range(250):
    optimizer.zero_grad()
    loss = loss_of({"rough": 1_024, "polish": 650_000}[stage])
    if not math.isfinite(loss.item()):
        skipped += 1
        continue
    loss.backward()
    optimizer.step()
    steady += 1
    if steady >= 190 and skipped < 10:
        stage = "polish"
print("skipped", skipped)
