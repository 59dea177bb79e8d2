"""A single request of 8 GiB, which no change makes smaller; with an argument, the error is caught and the argument is the exit status."""

import sys

import torch

with open("runs.txt", "a") as file:
    file.write("x")
try:
    torch.empty(8 << 30, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError:
    if len(sys.argv) == 1:
        raise
    sys.exit(int(sys.argv[1]))
