# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = [38]
# keeps_mib = 32
# allocates = [29]
# full_at = [171, 179]
# why = "lru_cache(maxsize=None) keeps a grid of 2048 x 2048 x 2 x 4 B = 32 MiB for each of 360 angles: 11 GiB"
# ///
"""Rotation average of a tomogram slice; the sampling grids are cached by angle, and no angle comes twice."""

import math
from functools import lru_cache

import torch
import torch.nn.functional as F

SIZE, ANGLES = 2048, 360


@lru_cache(maxsize=None)
def rotation_grid(degrees):
    axis = torch.linspace(-1, 1, SIZE, device="cuda")
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    sine, cosine = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
    return torch.stack([cosine * x - sine * y, sine * x + cosine * y], dim=-1)


class RotationAverage:
    def __init__(self, angles):
        self.angles = angles

    def __call__(self, image):
        mean = torch.zeros_like(image)
        for degrees in range(self.angles):
            mean += F.grid_sample(image, rotation_grid(degrees)[None], align_corners=False) / self.angles
        return mean


slice_ = torch.rand(1, 1, SIZE, SIZE, device="cuda")
print(RotationAverage(ANGLES)(slice_).std().item())
