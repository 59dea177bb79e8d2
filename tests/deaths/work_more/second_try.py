# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 25
# requested_bytes = 1207959552
# says_any = ["except", "exception", "traceback", "handler"]
# culprit = 24
# ///
"""Retries with half the batch inside the except block: the first try's 2.25 GiB are alive there, held by its traceback."""

import sys

import torch
from torch import nn

WIDTH, HIDDEN = 256, 16384
layer = nn.Linear(WIDTH, HIDDEN, device="cuda")


def encode(rows: torch.Tensor) -> torch.Tensor:
    """Returns the mean of the normalised hidden layer."""
    hidden = layer(rows)
    normed = hidden - 0.5
    return normed.mean(dim=1)


def encode_safely(rows: torch.Tensor) -> torch.Tensor:
    """Encodes all rows at once, or else in halves."""
    try:
        return encode(rows)
    except torch.OutOfMemoryError:
        print("out of memory with", len(rows), "rows, trying halves", file=sys.stderr)
        torch.cuda.empty_cache()
        return torch.cat([encode(half) for half in rows.chunk(2)])


with torch.inference_mode():
    for size in (1024, 4096, 36864):
        print(size, encode_safely(torch.zeros(size, WIDTH, device="cuda")).shape)
