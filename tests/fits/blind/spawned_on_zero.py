# /// expect
# run = "check"
# vram = "8GiB"
# gpus = 2
# kind = 13
# truth = "does not fit"
# verdict = ["does not fit", "incomplete"]
# says = ["ranks"]
# why = 'both spawned ranks use cuda:0 with NCCL, which refuses two ranks on one GPU ("Duplicate GPU detected")'
# ///
"""DDP by torch.multiprocessing.spawn, where the device is written down as 0 for both ranks."""

import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

WORLD, WIDTH, BATCH, STEPS = 2, 2048, 64, 50


def train(rank):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29571")
    dist.init_process_group("nccl", rank=rank, world_size=WORLD)
    device = torch.device("cuda:0")
    model = DistributedDataParallel(nn.Linear(WIDTH, WIDTH).to(device), device_ids=[device])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(STEPS):
        loss = model(torch.randn(BATCH, WIDTH, device=device)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(train, nprocs=WORLD)
