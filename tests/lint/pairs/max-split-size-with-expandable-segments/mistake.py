"""A large batch, then two of half its size at a time, beside what is kept."""

import os

os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True,max_split_size_mb:64"

import torch

x = torch.randn(30720, 1024, device="cuda")
kept = torch.randn(20480, 1024, device="cuda")
del x
for step in range(3):
    halves = [torch.randn(15360, 1024, device="cuda") for _ in range(2)]
    del halves
