"""Each batch's state refers to itself, so that only the garbage collector frees its tensors."""

# /// expect
# rule = "reference-cycle"
# vram = "4GiB"
# ///

import gc

import torch


class State:
    """The facts about a batch."""

    def __init__(self, size):
        self.hidden = torch.zeros(size, 1024, device="cuda")  # the cause
        self.report = lambda: self.hidden.shape


def main():
    for epoch, batches in enumerate((16, 24, 200)):
        for _ in range(batches):
            State(8192 + 64 * epoch)
        gc.collect()


torch.cuda.memory._record_memory_history(stacks="python")
try:
    main()
finally:
    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
