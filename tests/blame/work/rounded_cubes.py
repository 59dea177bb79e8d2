# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "setting"
# first_finding = ["allocator-setting-harmful"]
# lines = [15, 24, 28]
# why = "with two divisions a request is rounded up to 1 or 1.5 times a power of two: 8 cubes of 520 x 512 x 272 x 4 B = 276 MiB become 384 each, 3072 MiB, and the two temporaries of the filter 768 more, 3840 of 3686 MiB; without the setting 10 x 276 = 2763"
# ///
"""Filters eight frequency cubes of a telescope and adds them up."""

import os

os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "roundup_power2_divisions:2"

import torch

SHAPE = (520, 512, 272)


class CubeStack:
    def __init__(self, channels):
        self.cubes = [torch.rand(SHAPE, device="cuda") for _ in range(channels)]

    def sharpen(self, amount):
        for cube in self.cubes:
            blurred = (cube + cube.roll(1, dims=0)) / 2
            cube.lerp_(blurred, -amount)

    def total(self):
        image = torch.zeros(SHAPE[1:], device="cuda")
        for cube in self.cubes:
            image += cube.sum(dim=0)
        return image


stack = CubeStack(channels=8)
for amount in (0.1, 0.05):
    stack.sharpen(amount)
print(stack.total().mean().item())
