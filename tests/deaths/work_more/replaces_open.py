# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 31
# requested_bytes = 8589934592
# says_any = ["8.00 gib"]
# steps = 25
# ///
"""Has functions of its own in the place of `open`, `os.open`, `os.write` and `os.close`, as a test of a library does: they only count."""

import builtins
import os

import ownfiles
import torch

ownfiles.train(5)
calls = []


def refuse(*words, **named):
    calls.append(words)
    raise RuntimeError("this program opens, writes and closes nothing")


builtins.open = os.open = os.write = os.close = os.replace = refuse
ownfiles.train(20)
try:
    torch.empty(2**33, dtype=torch.uint8, device="cuda")
finally:
    os._exit(9) if any("oomph" in str(words) for words in calls) else None
