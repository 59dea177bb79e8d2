"""Adds up many small tensors."""

import torch

torch.cuda.memory._record_memory_history(max_entries=100_000)
x = torch.ones(1, device="cuda")
for step in range(4):
    for _ in range(10_000):
        x = x + 1
