# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 24
# requested_bytes = 8589934592
# says_any = ["8.00 gib"]
# steps = 25
# ///
"""Becomes a user without rights after its first steps, as a server does."""

import os

import ownfiles
import torch

ownfiles.train(5)
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
ownfiles.train(20)
torch.empty(2**33, dtype=torch.uint8, device="cuda")
