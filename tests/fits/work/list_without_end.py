# /// expect
# run = "check"
# vram = "4GiB"
# kind = 9
# truth = "does not fit"
# verdict = ["does not fit"]
# need_gib = [8, 70]
# why = "the smallest batch of the list, 8, has an input of 8 x 8192 x 16384 x 4 B = 4 GiB and an output as large"
# ///
"""Tries three batch sizes; none of them fits, and the last error is raised."""

import torch
from torch import nn

TOKENS, WIDTH = 8192, 16384


def probe(batch_size):
    gain = nn.Parameter(torch.ones(WIDTH, device="cuda"))
    optimizer = torch.optim.SGD([gain], lr=0.1)
    for _ in range(2):
        x = torch.rand(batch_size, TOKENS, WIDTH, device="cuda")
        (x * gain).mean().backward()
        optimizer.step()


def largest(sizes):
    error = None
    for size in sizes:
        try:
            probe(size)
            return size
        except torch.cuda.OutOfMemoryError as refused:
            error = refused.with_traceback(None)
            torch.cuda.empty_cache()
    raise error


print("batch size", largest([32, 16, 8]))
