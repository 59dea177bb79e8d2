# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 23
# requested_bytes = 8589934592
# says_any = ["8.00 gib"]
# steps = 25
# ///
"""Leaves the file system after its first steps: an empty folder is its root, where no path of before leads anywhere."""

import os
import tempfile

import ownfiles
import torch

ownfiles.train(5)
if os.getuid() == 0:
    os.chroot(tempfile.mkdtemp())
ownfiles.train(20)
torch.empty(2**33, dtype=torch.uint8, device="cuda")
