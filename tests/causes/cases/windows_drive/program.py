"""A model for which the GPU is large enough; but the program runs under WSL, and Windows holds a part of the device."""

# /// expect
# rule = "other-process-memory"
# text = ["other-process-memory"]
# needs_text = true
# others = "2GiB"
# also = ["wsl"]
# on_windows = true
# ///

import torch
from torch import nn


def main():
    with torch.device("cuda"):
        model = nn.Sequential(*(nn.Linear(4096, 4096) for _ in range(16)))
    model(torch.randn(8, 4096, device="cuda"))


torch.cuda.memory._record_memory_history(stacks="python")
try:
    main()
finally:
    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
