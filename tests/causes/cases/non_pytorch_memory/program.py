"""A library beside PyTorch takes its memory from CUDA itself."""

# /// expect
# rule = "non-pytorch-memory"
# vram = "4GiB"
# text = ["non-pytorch-memory"]
# needs_text = true
# ///

import ctypes

import torch
from torch import nn


def main():
    torch.cuda.init()
    pointer = ctypes.c_void_p()
    status = ctypes.CDLL(None).cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(2 << 30))
    if status != 0:
        raise RuntimeError(f"cudaMalloc says {status}")
    layers = (layer for _ in range(8) for layer in (nn.Linear(1024, 1024), nn.ReLU()))
    model = nn.Sequential(*layers).cuda()
    model(torch.randn(32768, 1024, device="cuda")).square().mean().backward()


torch.cuda.memory._record_memory_history(stacks="python")
try:
    main()
finally:
    torch.cuda.memory._dump_snapshot("snapshot.pickle")
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
