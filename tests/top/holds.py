"""Holds so many MiB of a GPU until its input ends: `holds.py MIB [DEVICE]`."""

import os
import sys

import torch

held = torch.empty(int(sys.argv[1]) << 20, dtype=torch.uint8, device=f"cuda:{(sys.argv[2:] or ['0'])[0]}")
print("ready", os.getpid(), flush=True)
sys.stdin.read()
