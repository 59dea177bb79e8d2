# /// expect
# run = "check"
# vram = "3GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# grows = false
# why = "each scan fills the list with 16 windows of 32 x 256 x 1024 x 4 B = 32 MiB and clears it: 0.5 GiB and the joined 0.5 GiB; 90 scans would be 45 GiB"
# ///
"""Sliding-window segmentation of scans: the windows of one scan are collected, joined, and cleared before the next scan."""

import torch
from torch import nn

WINDOWS, SLICES, ROWS, WIDTH, SCANS = 16, 32, 256, 1024, 90


class Segmenter:
    def __init__(self):
        self.model = nn.Linear(WIDTH, WIDTH).cuda()
        self.windows = []

    def scan(self):
        for _ in range(WINDOWS):
            self.windows.append(self.model(torch.rand(SLICES, ROWS, WIDTH, device="cuda")))
        volume = torch.cat(self.windows)
        self.windows.clear()
        return volume.mean((1, 2)).cpu()


segmenter = Segmenter()
with torch.no_grad():
    volumes = [segmenter.scan() for _ in range(SCANS)]
print(len(volumes))
