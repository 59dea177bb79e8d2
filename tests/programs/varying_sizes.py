"""Batches of varying size: the advice of the guides more than doubles what the allocator reserves.

By default 1074 MiB, with max_split_size_mb:128 2562 MiB, with expandable_segments 484 MiB. A batch is freed before the
next is made. Those of the first three steps each need a segment of their own, since each is larger than all before. The others fit into
these, unless large blocks may not be split: then each needs one more.
"""

import torch

MIB = 1 << 20
SIZES = (240, 350, 480, 200, 310, 270, 400, 170, 138)


def step(mib):
    """One batch, gone when it returns."""
    torch.empty(mib * MIB, dtype=torch.uint8, device="cuda")


torch.cuda.memory._record_memory_history(stacks="python")
weights = [torch.empty(MIB // 2, dtype=torch.uint8, device="cuda") for _ in range(5)]
for _ in range(3):
    for size in SIZES:
        step(size)
torch.cuda.memory._dump_snapshot("snapshot.pickle")
print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
