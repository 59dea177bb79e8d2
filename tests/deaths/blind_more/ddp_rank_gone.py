# /// expect
# run = "run"
# vram = "4GiB"
# gpus = 4
# command = "torchrun --nproc-per-node 4 --max-restarts 0 {program}"
# ends = "signal 9"
# status = 1
# rank = 3
# says_any = ["sigkill", "signal 9", "killed"]
# culprit = 29
# steps = 2
# ///
"""Rank 3 of four gets SIGKILL after its third backward pass, as from the kernel; torchrun ends the others and returns 1."""

import os
import signal

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Model(nn.Module):
    """Looks rows up in a frozen table."""

    def __init__(self, rows: int, width: int) -> None:
        super().__init__()
        self.register_buffer("table", torch.zeros(rows, width, device="cuda"))
        self.head = nn.Linear(width, 8, device="cuda")

    def forward(self, index: torch.Tensor) -> torch.Tensor:
        return self.head(self.table[index])


def main() -> None:
    """Trains one rank."""
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl")
    model = DistributedDataParallel(Model(131072, 2048), device_ids=[rank], broadcast_buffers=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(50):
        model(torch.arange(64, device="cuda")).mean().backward()
        if rank == 3 and step == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        optimizer.step()
        optimizer.zero_grad()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
