"""Messages to NCCL about PyTorch's process groups, over a phantom GPU.

Note [Watchdog]
~~~~~~~~~~~~~~~
`ProcessGroupNCCL` keeps the outputs of a collective until its watchdog thread, which polls every 100 ms, has seen the collective done. A
phantom's step takes less than 100 ms, so the memory alive at a peak would depend on the moment of the poll. So the agent waits for the
watchdog at two points: after `DistributedDataParallel` has sent its parameters, and after each step. A real step is long beside 100 ms; the
watchdog has then polled as well.
"""

import functools

import torch.distributed
from torch.distributed import device_mesh
from torch.distributed import distributed_c10d as c10d
from torch.nn.parallel import DistributedDataParallel

from ..phantom import Phantom
from ..failure import guarded


def install(phantom: Phantom) -> None:
    """Tells the phantom the ranks of groups that are split off, and waits for the watchdog after DDP's set-up."""
    c10d._process_group_color = _telling_color(c10d._process_group_color, phantom)
    split = _telling_next(c10d.split_group, phantom)
    for module in (c10d, torch.distributed, device_mesh):
        module.split_group = split
    _after(DistributedDataParallel, settle)


@guarded
def settle() -> None:
    """Waits until no group keeps a finished collective's tensors."""
    if c10d.is_initialized():
        for group, (backend, _) in list(c10d._world.pg_map.items()):
            if "nccl" in backend:
                group._wait_for_pending_works()


def _telling_color(color_of, phantom: Phantom):
    @functools.wraps(color_of)
    def wrapper(ranks):
        color = color_of(ranks)
        me = c10d.get_rank()
        if me in ranks:
            phantom.say_group(color, len(ranks), list(ranks).index(me))
        return color

    return wrapper


def _telling_next(split, phantom: Phantom):
    """Announces the group of `split_group`, which computes its colour unseen and splits at once."""

    @functools.wraps(split)
    def wrapper(parent_pg=None, split_ranks=None, *args, **kwargs):
        me = (parent_pg or c10d._get_default_group()).rank()
        for ranks in split_ranks or ():
            if me in ranks:
                phantom.say_next_group(len(ranks), sorted(ranks).index(me))
        return split(parent_pg, split_ranks, *args, **kwargs)

    return wrapper


def _after(owner: type, action) -> None:
    init = owner.__init__

    @functools.wraps(init)
    def wrapper(self, *args, **kwargs):
        init(self, *args, **kwargs)
        action()

    owner.__init__ = wrapper
