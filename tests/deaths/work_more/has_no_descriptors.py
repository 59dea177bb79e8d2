# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 21
# requested_bytes = 8589934592
# says_any = ["8.00 gib"]
# steps = 25
# ///
"""Lowers its limit of open files to none after its first steps: no file can be opened from then on."""

import resource

import ownfiles
import torch

ownfiles.train(5)
resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
ownfiles.train(20)
torch.empty(2**33, dtype=torch.uint8, device="cuda")
