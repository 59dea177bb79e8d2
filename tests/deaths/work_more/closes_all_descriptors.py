# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 31
# requested_bytes = 8589934592
# says_any = ["8.00 gib"]
# steps = 45
# ///
"""Closes every descriptor as a daemon does, also while it trains, and puts own files in all numbers: they hold its own bytes alone."""

import os

import ownfiles
import torch

ownfiles.train(5)
os.closerange(3, 4096)
files = ownfiles.open_own(12)
ownfiles.train(20)
# The last own file is in every number now.
for number in range(3, 256):
    if number not in files:
        os.dup2(files[-1], number)
ownfiles.train(20)
ownfiles.check_own(files)
os.closerange(3, 4096)
files = ownfiles.open_own(12)
try:
    torch.empty(2**33, dtype=torch.uint8, device="cuda")
finally:
    ownfiles.check_own(files)
