"""Folklore: changes that lower no peak."""

from case import Case
from peaks import Tower


CASES = [
    Case("mlp_relu", "empty-cache", Tower.RELU, Tower.RELU, ("all of it unused", "torch.cuda.empty_cache() after each step (line 16)")),
    Case("mlp_relu", "gc-collect", Tower.RELU, Tower.RELU, ("freed 0 bytes of GPU memory", "gc.collect() after each step (line 16)")),
    # Tensors in reference cycles make this more than folklore. The program grows, so `check` runs all ten steps: nine results less.
    Case("cycle", "gc-collect", Tower.KEPT + 9 * Tower.UNIT, Tower.KEPT, (f"freed {Tower.UNIT:,} bytes of GPU memory",)),
    Case("data_loader", "num-workers", Tower.RELU, Tower.RELU, ("DataLoader(num_workers=0): workers are processes on the host",)),
    Case("data_loader", "num-workers:n=2", Tower.RELU, Tower.RELU, ("DataLoader has num_workers=2 already",)),
    Case("data_loader", "pin-memory", Tower.RELU, Tower.RELU, ("DataLoader(pin_memory=True): pinned memory is the host's",)),
]
