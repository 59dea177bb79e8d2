# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 27
# requested_bytes = 3221225472
# says_any = [20]
# culprit = 20
# steps = 25
# ///
"""Forks by a call of C, of which Python's hooks hear nothing; the child frees its 2 GiB, and those of the parent stay allocated."""

import ctypes
import os

import ownfiles
import torch

held = [torch.empty(2**31, dtype=torch.uint8, device="cuda")]
ownfiles.train(25)
child = ctypes.CDLL(None).fork()
if child == 0:
    held.clear()
    os._exit(0)
os.waitpid(child, 0)
torch.empty(3 * 2**30, dtype=torch.uint8, device="cuda")
