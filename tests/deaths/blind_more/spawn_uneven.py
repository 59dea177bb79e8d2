# /// expect
# run = "run"
# vram = "4GiB"
# gpus = 3
# ends = "oom"
# status = 1
# rank = 2
# line = 26
# requested_bytes = 536870912
# says_any = ["parts", 26]
# culprit = 26
# ///
"""Spawns three workers that load parts of an index, 512 MiB each: the last has ten of them instead of three."""

import os

import torch
import torch.multiprocessing as mp

PARTS = 16
SHARE = PARTS // 5


def load(part: int) -> torch.Tensor:
    """Returns one part of the index."""
    return torch.full((131072, 1024), float(part), device="cuda")


def own_parts(rank: int, world: int) -> range:
    """Returns what a rank has to load; the remainder goes to the last."""
    return range(rank * SHARE, PARTS if rank == world - 1 else (rank + 1) * SHARE)


def worker(rank: int, world: int) -> None:
    """Searches the parts of one rank."""
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world))
    torch.cuda.set_device(rank)
    parts = [load(part) for part in own_parts(rank, world)]
    query = torch.zeros(1024, device="cuda")
    best = torch.stack([(part @ query).amax() for part in parts]).amax()
    print("rank", rank, "searched", len(parts), best.shape, flush=True)


if __name__ == "__main__":
    mp.spawn(worker, args=(3,), nprocs=3)
