"""fully-shard: weights, gradients and optimizer state are divided among k GPUs, by FSDP2's `fully_shard`.

This process becomes rank 0 of k (Note [Absent ranks] in `ranks.absent_ranks`), unless it was started as a rank. Each rank keeps the program's
batch: k GPUs see k times as many examples in a step.
"""

import os

from .. import wire
from ..ranks import absent_ranks, job_rank
from . import Remedy


def prepare(remedy: Remedy) -> None:
    """Sets the rank of this process in the environment, for PyTorch to read."""
    gpus = _gpus(remedy)
    if gpus is not None and job_rank.read_requested() is None:
        os.environ.update({wire.RANK: "0", wire.WORLD_SIZE: str(gpus), wire.LOCAL_WORLD_SIZE: str(gpus)})
        absent_ranks.assume_rank()


def install(remedy: Remedy) -> None:
    """`gpus=k`. Before the model is moved to the GPU: `fully_shard` moves a part at a time."""
    from .models import before_move

    place = job_rank.read_requested()
    if _gpus(remedy) is None:
        remedy.rejected(f"gpus={remedy.settings.get('gpus')}: expected a number from 2")
    elif place is None or place.world_size != _gpus(remedy):
        remedy.rejected(f"the program was started as one of {place.world_size if place else 1}, not of {_gpus(remedy)} ranks")
    else:
        before_move(lambda root, device: _shard(remedy, root, device), order=3)


def _gpus(remedy: Remedy) -> int | None:
    gpus = remedy.settings.get("gpus")
    return gpus if isinstance(gpus, int) and gpus > 1 else None


def _shard(remedy: Remedy, root, device) -> None:
    import torch
    from torch.distributed.fsdp import fully_shard

    from .blocks import described, repeated

    if next(root.parameters(), None) is None:
        return
    if torch.distributed.is_initialized():
        return remedy.rejected("the program distributes its work already")
    torch.cuda.set_device(device.index or 0)
    torch.distributed.init_process_group("nccl")
    name, blocks = type(root).__name__, repeated(root)
    of = described(blocks) or "no repeated blocks: all its weights are gathered at once"
    for block in blocks:
        fully_shard(block.module)
    fully_shard(root)
    remedy.applied(f"fully_shard({name}; {of}) over {_gpus(remedy)} GPUs")
