"""A model for which an A100 is large enough, and a slice of it is not."""

# /// expect
# rule = "mig"
# vram = ""
# text = ["mig"]
# needs_text = true
# gpu = "NVIDIA A100-SXM4-40GB MIG 1g.5gb"
# ///

import torch
from torch import nn


def main():
    with torch.device("cuda"):
        model = nn.Sequential(*(nn.Linear(9216, 9216) for _ in range(16)))
    model(torch.randn(8, 9216, device="cuda"))


torch.cuda.memory._record_memory_history(stacks="python")
try:
    main()
finally:
    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
