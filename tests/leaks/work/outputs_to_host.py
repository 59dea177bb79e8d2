# /// expect
# run = "check"
# vram = "2GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# grows = false
# why = "64 outputs of 40 x 1024 x 256 x 4 B = 40 MiB are 2.5 GiB, on the CPU; the device holds one input and two outputs"
# ///
"""Depth maps of a collection of scenes: each output is copied to the CPU and kept there."""

import torch
from torch import nn

VIEWS, ROWS, COLUMNS, SCENES = 40, 1024, 256, 64


class Depth(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(COLUMNS, COLUMNS)

    def forward(self, views):
        return self.mix(views).abs_()


def depths(model):
    maps = []
    for _ in range(SCENES):
        maps.append(model(torch.rand(VIEWS, ROWS, COLUMNS, device="cuda")).cpu())
    return maps


with torch.inference_mode():
    print("scenes", len(depths(Depth().cuda())))
