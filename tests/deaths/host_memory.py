"""A step on the GPU, and then more host memory than there is. A case of check.py limits the memory of the process."""

import torch

device = torch.zeros(1 << 20, device="cuda")
kept = []
while True:
    kept.append(bytearray(b"x" * (64 << 20)))
