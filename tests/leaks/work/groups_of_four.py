# /// expect
# run = "check"
# vram = "2GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# grows = false
# why = "at most four frames of 32 MiB are kept, and one more is made: they are joined, counted and dropped; 24 passes"
# ///
"""Counts cells in groups of four frames; the group is emptied when it was counted."""

import torch
from torch import nn

segment = nn.Conv2d(2, 8, 3, padding=1).cuda().requires_grad_(False)
group, cells = [], []
for number in range(24):
    frame = torch.rand(1, 2, 1024, 1024, device="cuda")
    group.append(segment(frame).sigmoid())
    if len(group) == 4:
        cells.append((torch.cat(group).amax(dim=1) > 0.5).sum().item())
        group = []
print(cells)
