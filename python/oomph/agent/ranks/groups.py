"""Messages to NCCL about PyTorch's process groups, over a phantom GPU.

Note [Watchdog]
~~~~~~~~~~~~~~~
`ProcessGroupNCCL` keeps the outputs of a collective until its watchdog thread, which polls every 100 ms, has seen the collective done. A
phantom's step takes less than 100 ms, so the memory alive at a peak would depend on the moment of the poll. So the agent waits for the
watchdog at two points: after `DistributedDataParallel` has sent its parameters, and after each step. A real step is long beside 100 ms; the
watchdog has then polled as well.
"""

import functools

from torch.distributed import distributed_c10d as c10d

from .. import hooks
from ..failure import guarded
from ..hooks import events
from ..phantom import Phantom


def install(phantom: Phantom) -> None:
    """Tells the phantom the ranks of groups that are split off, and waits for the watchdog after DDP's set-up."""
    hooks.around("torch.distributed.distributed_c10d:_process_group_color", functools.partial(_tell_color, phantom))
    hooks.around("torch.distributed.distributed_c10d:split_group", functools.partial(_tell_next, phantom))
    hooks.around("torch.nn.parallel.distributed:DistributedDataParallel.__init__", events.after(lambda *_args, **_kwargs: settle()))


@guarded
def settle() -> None:
    """Waits until no group keeps a finished collective's tensors."""
    if c10d.is_initialized():
        for group, (backend, _) in list(c10d._world.pg_map.items()):
            if "nccl" in backend:
                group._wait_for_pending_works()


def _tell_color(phantom: Phantom, color_of, ranks):
    color = color_of(ranks)
    me = c10d.get_rank()
    if me in ranks:
        phantom.say_group(color, len(ranks), list(ranks).index(me))
    return color


def _tell_next(phantom: Phantom, split, parent_pg=None, split_ranks=None, *args, **kwargs):
    """Announces the group of `split_group`, which computes its colour unseen and splits at once."""
    me = (parent_pg or c10d._get_default_group()).rank()
    for ranks in split_ranks or ():
        if me in ranks:
            phantom.say_next_group(len(ranks), sorted(ranks).index(me))
    return split(parent_pg, split_ranks, *args, **kwargs)
