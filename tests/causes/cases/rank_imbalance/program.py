"""A rank of a job of several: the first one also keeps the averaged weights and what all have computed."""

# /// expect
# rule = "rank-imbalance"
# text = []
# ranks = 2
# ///

import os

import torch
from torch import nn

rank = int(os.environ["RANK"])


def main():
    torch.cuda.set_device(rank)
    model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1024)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        loss = model(torch.randn(2048, 1024, device="cuda")).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    if rank == 0:
        gathered = torch.empty(8, 16384, 1024, device="cuda")  # the cause
        gathered.zero_()


torch.cuda.memory._record_memory_history(stacks="python")
try:
    main()
finally:
    torch.cuda.memory._dump_snapshot(f"rank{rank}.pickle")
    print("peak", torch.cuda.max_memory_allocated(rank), torch.cuda.max_memory_reserved(rank))
