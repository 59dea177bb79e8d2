# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 27
# requested_bytes = 1124000000
# says_any = [27, "frames"]
# culprit = 27
# ///
"""Replaces sys.excepthook with one that prints a single line; the error itself is not caught."""

import sys

import torch

WIDTH = 281000000


def report(kind, value, trace):
    print(f"[job 17] {kind.__name__} at the end of the job", file=sys.stderr)


sys.excepthook = report
frames = []
for number in range(10):
    frames.append(torch.empty(WIDTH, dtype=torch.int32, device="cuda"))
    print("frame", number)
