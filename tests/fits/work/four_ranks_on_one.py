# /// expect
# run = "check"
# vram = "4GiB"
# gpus = 1
# launch = "-m torch.distributed.run --nproc-per-node 4"
# kind = 13
# truth = "does not fit"
# verdict = ["does not fit"]
# why = "four ranks share one GPU by gloo: each has a context of 0.45 GiB and 1.2 GiB of weights, gradients and buffers, 6.6 GiB together"
# ///
"""Four ranks on GPU 0 with gloo, each with a model of its own, averaging gradients through the host."""

import os

import torch
import torch.distributed as dist
from torch import nn

WIDTH, DEPTH, BATCH, STEPS = 4096, 6, 16, 100


def average(model):
    for parameter in model.parameters():
        gradient = parameter.grad.cpu()
        dist.all_reduce(gradient)
        parameter.grad.copy_(gradient / dist.get_world_size())


def main():
    dist.init_process_group("gloo")
    torch.cuda.set_device(0)
    with torch.device("cuda:0"):
        model = nn.Sequential(*[nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(DEPTH)])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(STEPS):
        loss = model(torch.randn(BATCH, WIDTH, device="cuda")).square().mean()
        optimizer.zero_grad()
        loss.backward()
        average(model)
        optimizer.step()
    print("rank", os.environ["RANK"], "done")


main()
