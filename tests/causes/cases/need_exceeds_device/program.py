"""The parameters alone are more than the GPU has."""

# /// expect
# rule = "need-exceeds-device"
# text = ["need-exceeds-device"]
# ///

import torch
from torch import nn


def main():
    with torch.device("cuda"):
        model = nn.Sequential(*(nn.Linear(8192, 8192) for _ in range(16)))  # the cause
    model(torch.randn(8, 8192, device="cuda"))


torch.cuda.memory._record_memory_history(stacks="python")
try:
    main()
finally:
    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
