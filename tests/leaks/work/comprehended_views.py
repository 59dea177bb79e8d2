# /// expect
# run = "check"
# vram = "2GiB"
# truth = "fits"
# grows = true
# verdict = ["fits"]
# loop = [33]
# keeps_mib = 28
# allocates = [30]
# full_at = [48, 57]
# why = "each of 22 views keeps 7 x 1024 x 1024 x 4 B = 28 MiB: 616 MiB; 1.52 GiB would be full at about pass 53"
# ///
"""Renders a scene from 22 angles and compares the views at the end."""

import math

import torch
from torch import nn

light = nn.Conv2d(3, 7, 1).cuda().requires_grad_(False)


def angles(count):
    for number in range(count):
        yield 2 * math.pi * number / count


def view(angle):
    surface = torch.full((1, 3, 1024, 1024), math.cos(angle), device="cuda")
    return light(surface)


views = [view(angle) for angle in angles(22)]
print(min(v.mean().item() for v in views))
