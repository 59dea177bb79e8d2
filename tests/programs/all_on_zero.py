"""The mistake: no rank chooses its GPU, so all of them use the first. `torchrun --nproc-per-node N all_on_zero.py MIB`."""

import sys

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
weight = torch.nn.Parameter(torch.zeros(int(sys.argv[1]) << 18, device="cuda"))
optimizer = torch.optim.SGD([weight], lr=0.1)
for _ in range(3):
    weight.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
