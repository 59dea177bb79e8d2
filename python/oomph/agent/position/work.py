"""The work that a GPU would have done: FLOPs, bytes and copies of every operator, counted at the program's calls.

Counted only to compare the time of two variants (`OOMPH_WORK=1`): a dispatch mode costs some time for every operator. FLOPs are those of
`torch.utils.flop_counter` (matrix products, convolutions, attention, forward and backward); bytes are those of all tensors that an operator
reads and writes: the traffic if nothing stays in a cache. Kernels without an operator (compiled graphs, libraries that launch kernels
themselves) are not seen.
"""

import collections

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from .. import records


class Work(TorchDispatchMode):
    """Counts, from the moment it is installed."""

    def __init__(self) -> None:
        super().__init__()
        self._flops: collections.Counter[str] = collections.Counter()
        self._bytes = 0
        self._host_bytes = 0
        self._operators = 0

    def install(self) -> None:
        """Stays in force for the rest of the program."""
        self.__enter__()

    def so_far(self) -> dict:
        """The sums, as the records have them."""
        return records.gpu_work(
            flops=dict(self._flops), bytes=self._bytes, host_bytes=self._host_bytes, operators=self._operators
        )

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        result = function(*args, **kwargs)
        if not function.is_view:
            self._count(function, args, kwargs, result)
        return result

    def _count(self, function, args, kwargs, result) -> None:
        tensors = [leaf for leaf in pytree.tree_leaves((args, kwargs, result)) if isinstance(leaf, torch.Tensor)]
        on_device = [tensor for tensor in tensors if tensor.is_cuda]
        if not on_device:
            return
        self._operators += 1
        size = sum(tensor.numel() * tensor.element_size() for tensor in on_device)
        if len(on_device) < len(tensors) and function._overloadpacket in _COPIES:
            self._host_bytes += size
            return
        self._bytes += size
        count = flop_registry.get(function._overloadpacket)
        if count is not None:
            dtype = str(on_device[0].dtype).removeprefix("torch.")
            self._flops[dtype] += count(*args, **kwargs, out_val=result)


# Operators that copy between host and device.
_COPIES = (torch.ops.aten._to_copy, torch.ops.aten.copy_)
