# /// expect
# run = "run"
# vram = "4GiB"
# gpus = 4
# command = "torchrun --nproc-per-node 4 {program}"
# ends = "oom"
# status = 1
# line = 37
# requested_bytes = 205520896
# says_any = ["optimizer state", "optimizer's state", "adam", "exp_avg"]
# steps = 0
# ///
"""DDP holds weights, gradients and its buckets, 980 MiB each: on all four ranks Adam's state does not fit beside them."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

WIDTH, LAYERS = 7168, 5


def build() -> nn.Sequential:
    """Returns layers of 196 MiB."""
    with torch.device("cuda"):
        return nn.Sequential(*(nn.utils.skip_init(nn.Linear, WIDTH, WIDTH, bias=False, device="cuda") for _ in range(LAYERS)))


def train(rank: int) -> None:
    """Trains one rank."""
    model = DistributedDataParallel(build(), device_ids=[rank])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for step in range(5):
        model(torch.zeros(8, WIDTH, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        print("rank", rank, "step", step, flush=True)


def main() -> None:
    """Sets up one rank."""
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl")
    try:
        train(rank)
    finally:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
