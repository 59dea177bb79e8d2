# /// expect
# run = "check"
# vram = "8GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "fragmentation"
# first_finding = ["fragmentation"]
# lines = [27, 38]
# why = "lifted words are 548 x length x 1024 x 4 B = 856 to 1516 MiB and codes 0.625 of that; a bucket's words need a new segment since the last one's block is smaller, and its codes are cut from that block and pin its rest (about 0.28 of it): at the last codes (948 MiB) 5.7 of 7.6 GiB are allocated and 1.6 reserved in pieces under 400 MiB"
# ///
"""Encodes video captions in buckets of growing length, shortest first, and keeps the codes for clustering."""

import torch
from torch import nn

BATCH, WIDE, CODE = 548, 1024, 640
LENGTHS = [400, 440, 484, 532, 585, 644, 708]


class CaptionEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.lift = nn.Linear(32, WIDE)
        self.code = nn.Linear(WIDE, CODE)

    def forward(self, words):
        return self.code(self.lift(words))


def bucket(length):
    return torch.randn(BATCH, length, 32, device="cuda")


@torch.no_grad()
def encode_all(encoder):
    codes = []
    for length in LENGTHS:
        codes.append(encoder(bucket(length)))
        print(length, codes[-1].shape)
    return codes


encoder = CaptionEncoder().cuda().eval()
codes = encode_all(encoder)
print(torch.stack([code.mean() for code in codes]).mean().item())
