# /// expect
# run = "run"
# vram = "4GiB"
# gpus = 4
# command = "torchrun --nproc-per-node 4 {program}"
# ends = "oom"
# status = 1
# rank = 2
# line = 34
# requested_bytes = 4294967296
# says_any = ["hidden", 34]
# steps = 3
# ///
"""Buckets of like length go to the ranks: in the fourth step rank 2 gets the longest, 65536 rows, and the others wait for it."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

BUCKETS = [[64, 64, 64, 64], [128, 64, 64, 128], [64, 256, 64, 128], [64, 128, 65536, 256], [64, 64, 64, 64]]


class Block(nn.Module):
    """A block of a transformer, without its attention."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.up(x)
        return x + self.down(hidden.relu())


def main() -> None:
    """Trains one rank."""
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl")
    model = DistributedDataParallel(Block(512, 16384).cuda(), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, rows in enumerate(BUCKETS):
        loss = model(torch.zeros(rows[rank], 512, device="cuda")).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 2:
            print("step", step, flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
