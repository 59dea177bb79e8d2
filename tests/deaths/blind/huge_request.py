# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 18
# requested_bytes = 409600000000
# says_any = ["exceeds", "larger", "more than", "broadcasting"]
# ///
"""Broadcasts all pairs of points into one tensor of 381 GiB; next to nothing else is in use."""

import torch

POINTS, DIM = 40000, 64


def nearest(points):
    differences = points.unsqueeze(0) - points.unsqueeze(1)
    return differences.pow(2).sum(dim=-1).argmin(dim=-1)


print(nearest(torch.zeros(POINTS, DIM, device="cuda")))
