"""Goes on from a checkpoint on two GPUs: torchrun --nproc-per-node 2."""

import os

import torch
import torch.distributed as dist
from torch import nn

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl")
model = nn.Linear(1024, 1024).cuda()
if rank == 0:
    torch.save(model.state_dict(), "model.pt")
dist.barrier()
state = torch.load("model.pt", map_location="cpu")
model.load_state_dict(state)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = model(torch.randn(256, 1024).cuda()).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
