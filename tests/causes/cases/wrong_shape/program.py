"""Distances of all pairs by broadcasting: a difference for each pair and dimension at once."""

# /// expect
# rule = "one-huge-request"
# vram = "24GiB"
# text = ["one-huge-request"]
# ///

import torch


def distances(a, b):
    """The Euclidean distance of each row of a to each row of b."""
    return (a[:, None, :] - b[None, :, :]).square().sum(dim=-1).sqrt()  # the cause


def main():
    a = torch.randn(20000, 256, device="cuda")
    b = torch.randn(20000, 256, device="cuda")
    distances(a, b)


torch.cuda.memory._record_memory_history(stacks="python")
try:
    main()
finally:
    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
