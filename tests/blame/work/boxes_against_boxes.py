# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "pairwise"
# first_finding = ["pairwise-by-broadcasting"]
# lines = [18, 19]
# why = "24,000 proposals with 12,000 tracks and two coordinates: 24,000 x 12,000 x 2 x 4 B = 2.15 GiB for the left corners and as much for the right ones, with 2.52 free; in blocks of 1,000 proposals 90 MiB"
# ///
"""Matches proposals with tracks by intersection over union."""

import torch
from torch import nn


def overlap(a, b):
    left = torch.maximum(a[:, None, :2], b[None, :, :2])
    right = torch.minimum(a[:, None, 2:], b[None, :, 2:])
    width = (right - left).clamp_(min=0)
    return width[..., 0] * width[..., 1]


refine = nn.Linear(4, 4).cuda()
optimizer = torch.optim.SGD(refine.parameters(), lr=0.1)
for frame in range(6):
    proposals = torch.rand(24_000, 4, device="cuda")
    tracks = torch.rand(12_000, 4, device="cuda")
    refined = refine(proposals)
    with torch.no_grad():
        best = overlap(refined, tracks).argmax(dim=1)
    loss = nn.functional.l1_loss(refined, tracks[best])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
