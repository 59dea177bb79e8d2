# /// expect
# run = "check"
# vram = "2.4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "fragmentation"
# first_finding = ["fragmentation"]
# lines = [19, 22]
# why = "scratch of 100, 102, ... 138 MiB never fits what is left of an older block, because 52 % of each is taken by the image that stays: 20 segments are 2380 MiB of 1966; alive are 1238 MiB and one scratch of 138, so expandable segments serve it"
# ///
"""Reconstructs slices of a scan whose scratch space grows with the angle."""

import torch

MIB = 1 << 20
slices = []
for number in range(20):
    size = (100 + 2 * number) * MIB
    scratch = torch.zeros(size // 4, device="cuda")
    level = scratch.mean().item()
    del scratch
    slices.append(torch.full((size * 52 // 100 // 4,), level, device="cuda"))
print(sum(image.numel() for image in slices) // MIB, "million pixels")
