"""Groups of CPU tensors of a rank that is alone. See Note [Absent ranks] in `absent_ranks`.

Gloo would connect to every other rank. PyTorch's own fake group replaces gloo: the fake group takes part in every collective and moves
nothing. The collectives that return data of other ranks are overridden to return the data of this rank.
"""

import torch
from torch._C._distributed_c10d import FakeProcessGroup, FakeWork, ProcessGroup, Work
from torch.distributed import distributed_c10d as c10d

from .. import hooks
from ..hooks import events

_library: torch.library.Library | None = None


def install() -> None:
    """Replaces gloo, and the CPU kernels of the collectives that must return values."""
    global _library
    hooks.put("torch.distributed.distributed_c10d:ProcessGroupGloo", _Stand)
    # A counter of collectives, by which ranks compare their progress; the fake group has no counter.
    hooks.put("torch._C._distributed_c10d:FakeProcessGroup._set_sequence_number_for_group", lambda _self: None)
    hooks.around("torch.distributed.distributed_c10d:monitored_barrier", events.instead(_arrive))
    hooks.around("torch.distributed.distributed_c10d:split_group", events.instead(_split))
    _library = torch.library.Library("c10d", "IMPL")
    for name, kernel in _KERNELS.items():
        _library.impl(name, kernel, "CPU", allow_override=True)


class _StandsForGloo(type):
    """Makes `ProcessGroupGloo(...)` return the fake group, and the fake group an instance of `ProcessGroupGloo`."""

    def __call__(cls, _store, rank, size, timeout=None):
        return FakeProcessGroup._create_internal(rank, size)

    def __instancecheck__(cls, instance) -> bool:
        return isinstance(instance, FakeProcessGroup)


class _Stand(metaclass=_StandsForGloo):
    """The name `ProcessGroupGloo` while a rank is alone."""


def _arrive(group=None, timeout=None, wait_all_ranks=False) -> None:
    """Every rank has arrived."""


def _split(parent_pg=None, split_ranks=None, timeout=None, pg_options=None, group_desc=None):
    """The fake group cannot be split: our part of the parent is made anew. NCCL's communicator is split off all the same."""
    parent = parent_pg or c10d._get_default_group()
    for ranks in split_ranks:
        if parent.rank() in ranks:
            members = sorted(c10d.get_global_rank(parent, rank) for rank in ranks)
            return c10d.new_group(members, timeout, pg_options=pg_options, group_desc=group_desc)
    return None


def _done():
    return Work.boxed(FakeWork())


def _rank_and_size(group) -> tuple[int, int]:
    group = ProcessGroup.unbox(group)
    return group.rank(), group.size()


def _fill(outputs, value) -> None:
    for output in outputs:
        output.copy_(value.view_as(output))


def _repeat(output, value) -> None:
    """Fills `output` with copies of `value`, one behind the other."""
    flat = value.reshape(-1)
    output.view(-1).view(-1, max(1, flat.numel())).copy_(flat)


def _share(value, rank: int, size: int):
    """This rank's part of `value`."""
    return value.reshape(-1).chunk(size)[rank]


def _allgather(outputs, inputs, group, *_options):
    for places, value in zip(outputs, inputs):
        _fill(places, value)
    return outputs, _done()


def _allgather_base(output, value, group, *_options):
    _repeat(output, value)
    return output, _done()


def _allgather_many(outputs, inputs, group, *_options):
    for output, value in zip(outputs, inputs):
        _repeat(output, value)
    return _done()


def _allgather_lists(output_lists, inputs, group, *_options):
    for places in output_lists:
        for place, value in zip(places, inputs):
            place.copy_(value.view_as(place))
    return _done()


def _gather(outputs, inputs, group, root, *_options):
    if _rank_and_size(group)[0] == root:
        for places, value in zip(outputs, inputs):
            _fill(places, value)
    return _done()


def _scatter(outputs, inputs, group, root, *_options):
    rank, _ = _rank_and_size(group)
    if rank == root:
        for output, values in zip(outputs, inputs):
            output.copy_(values[rank])
    return outputs, _done()


def _reduce_scatter(outputs, inputs, group, *_options):
    rank, _ = _rank_and_size(group)
    for output, values in zip(outputs, inputs):
        output.copy_(values[rank])
    return outputs, _done()


def _reduce_scatter_base(output, value, group, *_options):
    output.view(-1).copy_(_share(value, *_rank_and_size(group)))
    return output, _done()


def _reduce_scatter_many(outputs, inputs, group, *_options):
    for output, value in zip(outputs, inputs):
        output.view(-1).copy_(_share(value, *_rank_and_size(group)))
    return _done()


def _alltoall(outputs, inputs, group, *_options):
    rank, _ = _rank_and_size(group)
    for output in outputs:
        # Parts of other ranks with another size are unknown.
        if output.numel() == inputs[rank].numel():
            output.copy_(inputs[rank].view_as(output))
    return outputs, _done()


def _alltoall_base(output, value, group, output_sizes, input_sizes, *_options):
    rank, size = _rank_and_size(group)
    if not output_sizes and not input_sizes:
        _repeat(output, _share(value, rank, size))
    return _done()


_KERNELS = {
    "allgather_": _allgather,
    "_allgather_base_": _allgather_base,
    "allgather_into_tensor_coalesced_": _allgather_many,
    "allgather_coalesced_": _allgather_lists,
    "gather_": _gather,
    "scatter_": _scatter,
    "reduce_scatter_": _reduce_scatter,
    "_reduce_scatter_base_": _reduce_scatter_base,
    "reduce_scatter_tensor_coalesced_": _reduce_scatter_many,
    "alltoall_": _alltoall,
    "alltoall_base_": _alltoall_base,
}
