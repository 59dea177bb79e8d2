"""Python objects that ranks exchange.

PyTorch sends objects as bytes in device tensors, and reads sizes and bytes back. A phantom moves values within a process only, so here the
same bytes travel through the group's store. The device memory of the tensors, a few bytes, is not allocated. Absent ranks (Note [Absent
ranks] in `absent_ranks`) send the same objects as this rank; objects that only an absent rank could know are not invented.

Releases add keywords, such as `weights_only` in 2.15, which change nothing here: `_later` takes them.
"""

import collections
import pickle

from torch.distributed import distributed_c10d as c10d

from .. import hooks
from ..hooks import events

_NAMES = (
    "broadcast_object_list",
    "all_gather_object",
    "gather_object",
    "scatter_object_list",
    "send_object_list",
    "recv_object_list",
)


def install(is_alone: bool, assume) -> None:
    """Replaces PyTorch's functions."""
    exchange = (_Absent if is_alone else _Present)(assume)
    for name in _NAMES:
        hooks.around(f"torch.distributed.distributed_c10d:{name}", events.instead(getattr(exchange, name)))


class Exchange:
    """The base of both stand-ins."""

    def __init__(self, assume) -> None:
        self._assume = assume
        self._counts: collections.Counter = collections.Counter()

    def key(self, group, *words) -> str:
        """A key of its own for each call: ranks make the same calls of a group in the same order."""
        name = "/".join(map(str, words))
        self._counts[group, name] += 1
        return f"oomph/{name}/{self._counts[group, name]}"


class _Present(Exchange):
    """All ranks are processes that share a store."""

    def broadcast_object_list(self, object_list, src=None, group=None, device=None, group_src=None, **_later):
        """Sends objects of a single rank to all ranks."""
        group, me = group_and_rank(group)
        if group is None:
            return
        key, root = self.key(group, "broadcast"), rank_in(group, src, group_src, 0)
        if me == root:
            put(group, key, list(object_list))
        else:
            object_list[:] = take(group, key)

    def all_gather_object(self, object_list, obj, group=None, **_later):
        """From all to all."""
        group, me = group_and_rank(group)
        if group is None:
            return
        key = self.key(group, "all_gather")
        put(group, f"{key}/{me}", obj)
        object_list[:] = [take(group, f"{key}/{rank}") for rank in range(group.size())]

    def gather_object(self, obj, object_gather_list=None, dst=None, group=None, group_dst=None, **_later):
        """Collects an object of every rank on a single rank."""
        group, me = group_and_rank(group)
        if group is None:
            return
        key = self.key(group, "gather")
        put(group, f"{key}/{me}", obj)
        if me == rank_in(group, dst, group_dst, 0):
            object_gather_list[:] = [take(group, f"{key}/{rank}") for rank in range(group.size())]

    def scatter_object_list(
        self, scatter_object_output_list, scatter_object_input_list=None, src=None, group=None, group_src=None, **_later
    ):
        """Sends a different object to each rank."""
        group, me = group_and_rank(group)
        if group is None:
            return
        key = self.key(group, "scatter")
        if me == rank_in(group, src, group_src, 0):
            for rank, value in enumerate(scatter_object_input_list):
                put(group, f"{key}/{rank}", value)
        scatter_object_output_list[0] = take(group, f"{key}/{me}")

    def send_object_list(self, object_list, dst=None, group=None, device=None, group_dst=None, use_batch=False, **_later):
        """To one other."""
        group, me = group_and_rank(group)
        if group is not None:
            put(group, self.key(group, "send", me, rank_in(group, dst, group_dst, None)), list(object_list))

    def recv_object_list(self, object_list, src=None, group=None, device=None, group_src=None, use_batch=False, **_later):
        """Receives objects; returns the global rank of the sender."""
        group, me = group_and_rank(group)
        if group is None:
            return -1
        sender = rank_in(group, src, group_src, None)
        if sender is None:
            raise NotImplementedError("recv_object_list from any rank: on a phantom GPU the sender must be named")
        object_list[:] = take(group, self.key(group, "send", sender, me))
        return c10d.get_global_rank(group, sender)


class _Absent(Exchange):
    """The stand-in for a rank that runs alone."""

    def broadcast_object_list(self, object_list, src=None, group=None, device=None, group_src=None, **_later):
        """Leaves the objects unchanged: objects of an absent rank are unknown."""
        group, me = group_and_rank(group)
        if group is not None and me != rank_in(group, src, group_src, 0):
            self._assume("absent-objects", "objects that an absent rank would broadcast stayed as this rank had them")

    def all_gather_object(self, object_list, obj, group=None, **_later):
        """Repeats this rank's object for every rank."""
        group, _ = group_and_rank(group)
        if group is not None:
            object_list[:] = _copies(obj, group.size())

    def gather_object(self, obj, object_gather_list=None, dst=None, group=None, group_dst=None, **_later):
        """Repeats this rank's object for every rank."""
        group, me = group_and_rank(group)
        if group is not None and me == rank_in(group, dst, group_dst, 0):
            object_gather_list[:] = _copies(obj, group.size())

    def scatter_object_list(
        self, scatter_object_output_list, scatter_object_input_list=None, src=None, group=None, group_src=None, **_later
    ):
        """The part of this rank, which scatters."""
        group, me = group_and_rank(group)
        if group is None:
            return
        root = rank_in(group, src, group_src, 0)
        if me != root:
            raise _unknown(group, root, "scatter_object_list")
        scatter_object_output_list[0] = scatter_object_input_list[me]

    def send_object_list(self, object_list, dst=None, group=None, device=None, group_dst=None, use_batch=False, **_later):
        """Does nothing: the receiver is absent."""

    def recv_object_list(self, object_list, src=None, group=None, device=None, group_src=None, use_batch=False, **_later):
        """Raises: the sender is absent."""
        group, _ = group_and_rank(group)
        if group is None:
            return -1
        raise _unknown(group, rank_in(group, src, group_src, None), "recv_object_list")


def _unknown(group, rank: int | None, function: str) -> RuntimeError:
    sender = "any rank" if rank is None else f"rank {c10d.get_global_rank(group, rank)}"
    return RuntimeError(
        f"{function} waits for an object of {sender}, which does not run: with --world-size only one rank does, and what "
        "others alone know is not made up. Check that rank, or all of them: oomph check --gpus N -- torchrun ..."
    )


def group_and_rank(group):
    """The group, and our rank in it; `None` where we are no member."""
    if group is None or group is c10d.GroupMember.WORLD:
        group = c10d._get_default_group()
    if c10d._rank_not_in_group(group):
        return None, -1
    return group, group.rank()


def rank_in(group, rank: int | None, group_rank: int | None, default: int | None) -> int | None:
    """The rank in the group of what was named in either way."""
    if group_rank is not None:
        return group_rank
    return default if rank is None else c10d.get_group_rank(group, rank)


def _store(group):
    return c10d._world.pg_map[group][1]


def put(group, key: str, value) -> None:
    """Leaves a value in the group's store."""
    _store(group).set(key, pickle.dumps(value))


def take(group, key: str):
    """A value of the group's store; waits until a rank has stored it."""
    return pickle.loads(_store(group).get(key))


def _copies(value, count: int) -> list:
    data = pickle.dumps(value)
    return [pickle.loads(data) for _ in range(count)]
