# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 22
# requested_bytes = 1127219200
# says_any = [22, "chunks"]
# culprit = 22
# ///
"""Chooses expandable segments in the environment before it imports torch, checks that PyTorch took them, and runs out."""

import os

os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"

import torch

chunks = [torch.zeros(1075, 1024, 256, device="cuda")]
assert all(segment["is_expandable"] for segment in torch.cuda.memory_snapshot())
while len(chunks) < 6:
    chunks.append(torch.zeros(1075, 1024, 256, device="cuda"))
    print("chunks", len(chunks))
