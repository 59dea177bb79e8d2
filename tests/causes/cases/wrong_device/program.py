"""A rank of a job of several: `cuda` means GPU 0 to each, because nobody set the device."""

# /// expect
# rule = "wrong-device"
# text = []
# ranks = 2
# ///

import os

import torch
from torch import nn


def main():
    model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1024)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        loss = model(torch.randn(2048, 1024, device="cuda")).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


rank = int(os.environ["RANK"])
torch.cuda.memory._record_memory_history(stacks="python")
try:
    main()
finally:
    torch.cuda.memory._dump_snapshot(f"rank{rank}.pickle")
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
