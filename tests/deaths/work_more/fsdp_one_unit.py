# /// expect
# run = "run"
# vram = "4GiB"
# gpus = 2
# command = "torchrun --nproc-per-node 2 {program}"
# ends = "oom"
# status = 1
# line = 35
# requested_bytes = 1342177280
# says_any = ["gradient", "shard"]
# steps = 0
# ///
"""FSDP without a wrapping policy: all 1.25 GiB are gathered at once, their gradients are whole too, and then packed: all ranks die."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel

WIDTH, LAYERS = 8192, 5


def build() -> nn.Module:
    """Returns five layers of 256 MiB."""
    return nn.Sequential(*(nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS)))


def train(model: nn.Module) -> None:
    """Trains for ten steps."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(10):
        loss = model(torch.zeros(32, WIDTH, device="cuda")).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print("step", step, flush=True)


def main() -> None:
    """Runs one rank."""
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl")
    try:
        with torch.device("cuda"):
            model = build()
        train(FullyShardedDataParallel(model, device_id=rank))
    finally:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
