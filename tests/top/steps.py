"""Six steps, of which each keeps 8 MiB and waits for its data, and then a wait until the input ends.

64 MiB of weights and as much of gradients; SGD has no state. A batch takes 1 s, and the rest of a step 0.05 s: the wait for data prevails on a busy machine as well.
"""

import os
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Slow(Dataset):
    """Items that take their time."""

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> torch.Tensor:
        time.sleep(1)
        return torch.zeros(1)


weights = torch.nn.Parameter(torch.zeros(16 << 20, device="cuda"))
optimizer = torch.optim.SGD([weights], lr=0.1)
weights.grad = torch.zeros_like(weights)
kept = []
for _ in DataLoader(Slow()):
    kept.append(torch.empty(8 << 20, dtype=torch.uint8, device="cuda"))
    time.sleep(0.05)
    optimizer.step()
print("ready", os.getpid(), flush=True)
sys.stdin.read()
