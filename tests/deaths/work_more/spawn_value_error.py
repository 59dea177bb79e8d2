# /// expect
# run = "run"
# vram = "4GiB"
# gpus = 2
# ends = "error"
# status = 1
# rank = 1
# says_any = ["valueerror"]
# culprit = 35
# steps = 2
# ///
"""Spawns two workers; the one of rank 1 finds an unknown label in its third batch and raises a ValueError."""

import os

import torch
import torch.multiprocessing as mp
import torch.nn.functional as F

LABELS = {0: [0, 1, 2, 3, 2, 1], 1: [3, 3, 9, 0, 1, 2]}
CLASSES = 4


def check(label: int) -> int:
    """Returns a known label."""
    if label >= CLASSES:
        raise ValueError(f"label {label} is not below {CLASSES}")
    return label


def worker(rank: int) -> None:
    """Trains on the labels of one rank."""
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2")
    torch.cuda.set_device(rank)
    table = torch.zeros(196608, 1024, device="cuda", requires_grad=True)
    weight = torch.zeros(CLASSES, 1024, device="cuda", requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for number, label in enumerate(LABELS[rank]):
        target = torch.full((1024,), check(label), device="cuda")
        rows = table.detach()[number * 1024 : (number + 1) * 1024]
        optimizer.zero_grad()
        F.cross_entropy(rows @ weight.T, target).backward()
        optimizer.step()
        torch.cuda.synchronize()


if __name__ == "__main__":
    mp.spawn(worker, nprocs=2)
