"""DistributedDataParallel over NCCL, one process per GPU; `torchrun --nproc-per-node N ddp.py`."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("nccl")
device = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(device)
model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 10)).cuda()
model = DistributedDataParallel(model, device_ids=[device])
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    x = torch.randn(256, 1024, device="cuda")
    y = torch.randint(10, (256,), device="cuda")
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
