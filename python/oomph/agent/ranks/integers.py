"""Small tensors of integers that ranks send each other: lengths, counts, settings.

Programs make shapes of the integers, or compare them and refuse to go on: DeepSpeed asserts that all ranks partition the same parameters. A
phantom moves values within a process only, so between processes the integers travel through the group's store as well. The collective
itself runs as usual.
"""

import torch

from .. import hooks
from .objects import Exchange, group_and_rank, put, rank_in, take

_SMALL_BYTES = 1 << 16


def install() -> None:
    """Replaces PyTorch's functions, where all ranks are processes."""
    exchange = _Integers(assume=None)
    for name in ("broadcast", "all_gather", "all_gather_into_tensor"):
        hooks.around(f"torch.distributed.distributed_c10d:{name}", getattr(exchange, name))


class _Integers(Exchange):
    """Each function first does what PyTorch's does, then sets the values."""

    def broadcast(self, original, tensor, src=None, group=None, async_op=False, group_src=None):
        """Sends values of a single rank to all ranks."""
        work = original(tensor, src, group, async_op, group_src)
        members, me = group_and_rank(group) if _is_small(tensor) else (None, -1)
        if members is not None:
            key = self.key(members, "integers")
            if me == rank_in(members, src, group_src, 0):
                put(members, key, tensor.tolist())
            else:
                _set(tensor, take(members, key))
        return work

    def all_gather(self, original, tensor_list, tensor, group=None, async_op=False):
        """From all to all, each to a tensor of its own."""
        work = original(tensor_list, tensor, group, async_op)
        for into, values in zip(tensor_list, self._gathered(tensor, group)):
            _set(into, values)
        return work

    def all_gather_into_tensor(self, original, output_tensor, input_tensor, group=None, async_op=False):
        """From all to all, in one tensor."""
        work = original(output_tensor, input_tensor, group, async_op)
        values = self._gathered(input_tensor, group)
        if values:
            _set(output_tensor, values)
        return work

    def _gathered(self, tensor, group) -> list:
        """The values of all ranks in order of rank; empty for tensors that stay unchanged."""
        members, me = group_and_rank(group) if _is_small(tensor) else (None, -1)
        if members is None:
            return []
        key = self.key(members, "gathered")
        put(members, f"{key}/{me}", tensor.tolist())
        return [take(members, f"{key}/{rank}") for rank in range(members.size())]


def _is_small(tensor: torch.Tensor) -> bool:
    is_integer = not (tensor.is_floating_point() or tensor.is_complex())
    return is_integer and tensor.is_cuda and tensor.numel() * tensor.element_size() <= _SMALL_BYTES


def _set(tensor: torch.Tensor, values: list) -> None:
    """Copies from the host, which takes no memory of the device."""
    tensor.copy_(torch.tensor(values, dtype=tensor.dtype).reshape(tensor.shape))
