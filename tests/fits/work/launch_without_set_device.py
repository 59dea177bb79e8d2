# /// expect
# run = "check"
# vram = "8GiB"
# gpus = 2
# launch = "-m torch.distributed.launch --nproc-per-node 2"
# kind = 13
# truth = "does not fit"
# verdict = ["does not fit", "incomplete"]
# says = ["ranks"]
# why = 'both ranks work on cuda:0 although there are two GPUs; NCCL 2.28 refuses two ranks on one GPU ("Duplicate GPU detected"), so no step is made'
# ///
"""The old launcher's tutorial without torch.cuda.set_device: both ranks use the default GPU."""

import argparse
import os

import torch
import torch.distributed as dist
from torch import nn

WIDTH, BATCH, STEPS = 1024, 256, 100

parser = argparse.ArgumentParser()
parser.add_argument("--local-rank", "--local_rank", type=int, default=int(os.environ.get("LOCAL_RANK", 0)))
arguments = parser.parse_args()

dist.init_process_group("nccl")
model = nn.Linear(WIDTH, WIDTH).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(STEPS):
    loss = model(torch.randn(BATCH, WIDTH, device="cuda")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= dist.get_world_size()
    optimizer.step()
dist.destroy_process_group()
