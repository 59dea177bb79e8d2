"""Batches of growing size."""

import os

os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"

import torch

model = torch.nn.Linear(1024, 1024).cuda()
for rows in (20480, 25600, 30720):
    x = torch.randn(rows, 1024, device="cuda")
    del x
