"""A setting left over from a shared machine: this process may use a quarter of the GPU."""

# /// expect
# rule = "small-gpu-fraction"
# vram = "4GiB"
# text = ["small-gpu-fraction"]
# ///

import torch
from torch import nn


def main():
    torch.cuda.set_per_process_memory_fraction(0.25)
    layers = (layer for _ in range(8) for layer in (nn.Linear(1024, 1024), nn.ReLU()))
    model = nn.Sequential(*layers).cuda()
    model(torch.randn(32768, 1024, device="cuda")).square().mean().backward()


torch.cuda.memory._record_memory_history(stacks="python")
try:
    main()
finally:
    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
