"""A popular setting: with blocks of more than 21 MiB never split, small requests take whole large blocks."""

# /// expect
# rule = "allocator-setting-harmful"
# ///

import os

os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "max_split_size_mb:21"

import torch


MIB = 1 << 20


def main():
    training = [torch.empty(40 * MIB, dtype=torch.uint8, device="cuda") for _ in range(54)]
    del training
    images, masks = [], []
    for _ in range(54):
        images.append(torch.empty(22 * MIB, dtype=torch.uint8, device="cuda"))  # the cause
        masks.append(torch.empty(18 * MIB, dtype=torch.uint8, device="cuda"))


torch.cuda.memory._record_memory_history(stacks="python")
try:
    main()
finally:
    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
