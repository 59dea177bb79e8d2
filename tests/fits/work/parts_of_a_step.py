# /// expect
# run = "check"
# vram = "2.4GiB"
# kind = 9
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [1.5, 2.2]
# why = "a million poses take 3.81 GiB for a map of width 1024, three of them are alive: one part needs 11.7 GiB, a third 3.9 + 0.48, a ninth 1.3 + 0.48 of 2.4"
# says = ["9"]
# ///
"""Pose network that splits a step into as many parts as memory asks for, and keeps that number."""

import torch
from torch import nn

net = nn.Sequential(nn.Linear(34, 1024), nn.LeakyReLU(), nn.Linear(1024, 34)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)


def backward(poses, parts):
    for part in poses.chunk(parts):
        part = part.cuda()
        loss = (net(part) - part).square().sum() / len(poses)
        loss.backward()


def step(poses, parts):
    try:
        backward(poses, parts)
        return parts
    except torch.OutOfMemoryError:
        pass
    optimizer.zero_grad()
    torch.cuda.empty_cache()
    return step(poses, 3 * parts)


parts = 1
for number in range(12):
    poses = torch.rand(1_000_000, 34)
    parts = step(poses, parts)
    optimizer.step()
    optimizer.zero_grad()
print("parts", parts)
