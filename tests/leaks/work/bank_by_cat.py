# /// expect
# run = "check"
# vram = "3GiB"
# truth = "fits"
# grows = true
# verdict = ["fits"]
# loop = [24]
# keeps_mib = 32
# allocates = [26]
# full_at = [35, 44]
# open = "the growth of the passes is not told"
# why = "each of 15 passes adds 16,384 x 512 x 4 B = 32 MiB: 480 MiB at the end, and as much again while cat copies; two copies of 32 MiB x passes would fill 2.52 GiB at about pass 40"
# ///
"""Collects descriptors of fifteen buildings in one matrix."""

import torch
from torch import nn

describe = nn.Linear(128, 512).cuda()


@torch.inference_mode()
def bank(buildings):
    rows = torch.zeros(0, 512, device="cuda")
    for number in range(buildings):
        photo = torch.rand(16_384, 128, device="cuda")
        rows = torch.cat((rows, describe(photo)), dim=0)
    return rows


print(tuple(bank(15).shape))
