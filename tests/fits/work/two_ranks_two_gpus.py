# /// expect
# run = "check"
# vram = "6GiB"
# gpus = 2
# launch = "-m torch.distributed.run --nproc-per-node 2"
# kind = 13
# truth = "fits"
# verdict = ["fits"]
# says = ["2 ×"]
# need_gib = [1.6, 4.2]
# why = "each rank has its GPU: weights 4 x 4096 x 4096 x 4 B = 0.25 GiB four times, DDP's buckets once more, NCCL's buffers"
# ///
"""Distributed data parallel as the tutorial has it: one GPU for each rank."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

WIDTH, DEPTH, BATCH, STEPS = 4096, 4, 64, 3


def main():
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl")
    with torch.device("cuda", local_rank):
        model = nn.Sequential(*[nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(DEPTH)])
    model = DistributedDataParallel(model, device_ids=[local_rank])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for _ in range(STEPS):
        loss = model(torch.randn(BATCH, WIDTH, device=local_rank)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
