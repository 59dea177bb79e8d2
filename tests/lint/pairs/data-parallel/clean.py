"""Trains a classifier of many classes on two GPUs: torchrun --nproc-per-node 2."""

import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
model = nn.Linear(64, 16384).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(2048, 64).cuda()
    y = torch.randint(16384, (2048,)).cuda()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad, op=dist.ReduceOp.AVG)
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
