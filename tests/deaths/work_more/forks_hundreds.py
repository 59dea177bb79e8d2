# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 25
# requested_bytes = 8589934592
# says_any = ["8.00 gib"]
# steps = 25
# ///
"""Forks 500 children after its first steps; each ends with its own status, and none leaves a descriptor."""

import os

import ownfiles
import torch

ownfiles.train(5)
before = os.listdir("/proc/self/fd")
for number in range(500):
    child = os.fork() or os._exit(number % 200)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == number % 200
assert os.listdir("/proc/self/fd") == before
ownfiles.train(20)
torch.empty(2**33, dtype=torch.uint8, device="cuda")
