"""Censuses: the storages of parameters, gradients, optimizer state and buffers at one instant.

A census holds addresses and sizes, never tensors.
"""

import sys
import weakref
from collections.abc import Iterator

import torch

from ..position.modules import Modules, own_tensors
from ..process import objects

Entry = tuple[str, int, int, int]

# The containers around a tensor of an optimizer's state, the elements of one, and the wrappers around a tensor: an object may contain itself.
_DEPTH = 8
_ELEMENTS = 100_000
_WRAPPERS = 8


class Census:
    """Collects what the known modules and optimizers hold."""

    def __init__(self, modules: Modules, optimizers: "weakref.WeakKeyDictionary[torch.optim.Optimizer, tuple[str, int]]") -> None:
        self.modules = modules
        self.optimizers = optimizers

    def take(self) -> list[Entry]:
        """Category, device, address and bytes of every CUDA storage; each storage once, under its first category."""
        seen: set[tuple[int, int]] = set()
        entries: list[Entry] = []
        # Overrides of subclasses may be slow or launch kernels, so the calls below bypass them.
        with torch._C.DisableTorchFunctionSubclass():
            for category, tensor in self._tensors():
                for entry in storages_of(category, tensor):
                    if (entry[1], entry[2]) not in seen:
                        seen.add((entry[1], entry[2]))
                        entries.append(entry)
        return entries

    def list_of(self, root: torch.nn.Module) -> Iterator[torch.Tensor]:
        """The tensors below a root, their gradients, and the optimizers' state of its parameters."""
        with torch._C.DisableTorchFunctionSubclass():
            own = [tensor for _, tensor in own_tensors([root])]
            yield from own
            for tensor in own:
                if tensor.grad is not None:
                    yield tensor.grad
            for optimizer in list(self.optimizers):
                for tensor in own:
                    yield from _tensors_in(optimizer.state.get(tensor, {}))

    def _tensors(self) -> Iterator[tuple[str, torch.Tensor]]:
        parameters = []
        for category, tensor in own_tensors(list(self.modules.roots)):
            yield category, tensor
            if category == "parameter":
                parameters.append(tensor)
        optimizers = list(self.optimizers)
        for optimizer in optimizers:
            for tensor in _parameters_of(optimizer):
                yield "parameter", tensor
                parameters.append(tensor)
        for parameter in parameters:
            if parameter.grad is not None:
                yield "gradient", parameter.grad
        for optimizer in optimizers:
            yield from _state_of(optimizer)


def _parameters_of(optimizer: torch.optim.Optimizer) -> Iterator[torch.Tensor]:
    for group in optimizer.param_groups:
        yield from group["params"]


def _state_of(optimizer: torch.optim.Optimizer) -> Iterator[tuple[str, torch.Tensor]]:
    for state in optimizer.state.values():
        for tensor in _tensors_in(state):
            yield "optimizer_state", tensor


def _tensors_in(value: object, depth: int = _DEPTH) -> Iterator[torch.Tensor]:
    """Tensors in nested containers, as optimizers keep them (LBFGS: lists of tensors)."""
    if objects.is_a(value, torch.Tensor):
        yield value
    elif depth:
        for item in objects.list_items(value, _ELEMENTS):
            yield from _tensors_in(item, depth - 1)


def storages_of(category: str, tensor: torch.Tensor, depth: int = _WRAPPERS) -> Iterator[Entry]:
    """The CUDA storages behind a tensor; empty for a tensor without GPU memory of its own."""
    if _is_fake(tensor) or not depth:
        return
    inner = _inner(tensor)
    if inner:
        for part in inner:
            yield from storages_of(category, part, depth - 1)
    elif tensor.device.type == "cuda":
        storage = tensor.untyped_storage()
        size = storage.nbytes()
        if size:
            yield category, storage.device.index, storage.data_ptr(), size


def _inner(tensor: torch.Tensor) -> list[torch.Tensor]:
    """The tensors inside a wrapper: a DTensor's local shard, the parts of a traceable subclass, a sparse tensor's members."""
    if tensor.layout is torch.strided:
        kind = type(tensor)
        if kind is torch.nn.Parameter or kind is torch.Tensor:
            return []
        local = objects.read(tensor, "_local_tensor")
        if objects.is_a(local, torch.Tensor):
            return [local]
        if hasattr(kind, "__tensor_flatten__"):
            return [getattr(tensor, name) for name in tensor.__tensor_flatten__()[0]]
        return []
    if tensor.layout is torch.sparse_coo:
        return [tensor._indices(), tensor._values()]
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
    return []


def _is_fake(tensor: torch.Tensor) -> bool:
    module = sys.modules.get("torch._subclasses.fake_tensor")
    return module is not None and isinstance(tensor, module.FakeTensor)
