# /// expect
# run = "check"
# vram = "8GiB"
# gpus = 4
# launch = "-m torch.distributed.run --nproc-per-node 4"
# kind = 13
# truth = "does not fit"
# verdict = ["does not fit"]
# need_gib = [9.4, 18]
# why = "each of four ranks has its own GPU and the whole model on it: 36 x 4096 x 4096 x 4 B = 2.25 GiB of weights, gradients, and two moments are 9 GiB"
# ///
"""Four ranks, each with its own GPU, that average gradients by all_reduce: nothing is sharded."""

import os

import torch
import torch.distributed as dist
from torch import nn

WIDTH, DEPTH, BATCH, STEPS = 4096, 36, 16, 100


def main():
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    with torch.device("cuda"):
        model = nn.Sequential(*[nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(DEPTH)])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for _ in range(STEPS):
        loss = model(torch.randn(BATCH, WIDTH, device="cuda")).square().mean()
        optimizer.zero_grad()
        loss.backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad, op=dist.ReduceOp.AVG)
        optimizer.step()
    dist.destroy_process_group()


main()
