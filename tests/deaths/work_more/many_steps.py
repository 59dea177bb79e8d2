# /// expect
# run = "run"
# vram = "16GiB"
# ends = "oom"
# status = 1
# line = 29
# requested_bytes = 16777216
# says_any = ["16.00 mib stay of each"]
# culprit = 29
# steps = 1015
# ///
"""Keeps 16 MiB of each of a thousand fast steps, of which a recording has every fiftieth or so.

Of 16 GiB 130 MiB are the context of the GPU, and a segment of 2 MiB has all that is small: the rest has room for 1015.9 tensors.
"""

import torch
from torch import nn


def main() -> None:
    """Trains until memory runs out."""
    weight = nn.Parameter(torch.ones(256, device="cuda"))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    kept = []
    while True:
        optimizer.zero_grad()
        (weight * weight).sum().backward()
        kept.append(torch.zeros(4 << 20, device="cuda"))
        optimizer.step()


main()
