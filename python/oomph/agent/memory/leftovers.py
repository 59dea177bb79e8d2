"""The memory that variables keep after the program has emptied PyTorch's cache, as it does after `del model`.

A variable keeps the tensors of modules, optimizers, containers and attributes. A tensor with a graph keeps the leaves of the graph, too: the
weights that it was computed from.
"""

import functools
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from types import FrameType

import torch

from .. import hooks, records
from ..failure import guarded
from ..hooks import events
from ..position.modules import own_tensors
from ..process import frames, local_variables, objects
from ..process.objects import Budget
from .census import storages_of

# Lines of which the first call is recorded, and the variables of a call.
_MOST_LINES = 8
_MOST_NAMES = 3
# Variables with less, in bytes, are no remainder.
_LEAST_BYTES = 1 << 20
# The search through containers and attributes ends at this depth, and at these numbers of elements and of nodes of graphs: of one container, and
# of all variables.
_DEPTH = 3
_ELEMENTS = 1000
_ALL_ELEMENTS = 200_000
_NODES = 200_000
_ACCUMULATE = torch._C._functions.AccumulateGrad
# Storages by device and address.
_Sizes = dict[tuple[int, int], int]


def install(write: Callable[[dict], object]) -> None:
    """Records the memory that variables keep after the first call of `torch.cuda.empty_cache` by a line of the user's."""
    hooks.around("torch.cuda.memory:empty_cache", events.after(functools.partial(_note, write, set())))


@guarded
def _note(write: Callable[[dict], object], lines: set[tuple[str, int]]) -> None:
    frame = frames.skip_agents(sys._getframe())
    at = frame.f_code.co_filename, frame.f_lineno
    if at in lines or len(lines) >= _MOST_LINES or not frames.is_users(at[0]) or not torch.cuda.is_initialized():
        return
    lines.add(at)
    for name, what, size in list_keepers(frame)[:_MOST_NAMES]:
        write(records.leftover(file=at[0], line=at[1], allocated_bytes=torch.cuda.memory_allocated(), name=name, what=what, kept_bytes=size))


def list_keepers(frame: FrameType) -> list[tuple[str, str, int]]:
    """The name, the kind and the bytes of each variable of a running function or of its module, most bytes first."""
    found: dict[str, tuple[str, int]] = {}
    left, nodes = Budget(_ALL_ELEMENTS), Budget(_NODES)
    for name, value in _list_variables(frame):
        size = sum(Search(left, nodes).sum_sizes(value).values())
        if size >= _LEAST_BYTES and name not in found:
            has_graph = issubclass(type(value), torch.Tensor) and value.grad_fn is not None
            found[name] = objects.name_of_class(type(value)) + (" with its graph" if has_graph else ""), size
    return sorted(((name, what, size) for name, (what, size) in found.items()), key=lambda it: (-it[2], it[0]))


def _list_variables(frame: FrameType) -> Iterator[tuple[str, object]]:
    for running in frames.list_running(frame):
        if frames.is_users(running.f_code.co_filename):
            code = running.f_code
            yield from local_variables.read_all(running, list(code.co_varnames + code.co_cellvars)).items()
    yield from list(frame.f_globals.items())


class Search:
    """The search through one value. `left` and `nodes`: the elements and the nodes of graphs that all searches may still visit."""

    def __init__(self, left: Budget, nodes: Budget) -> None:
        self._left, self._nodes = left, nodes
        # Nodes that were visited: the losses of a list share their graphs.
        self._seen: set[object] = set()

    def sum_sizes(self, value: object) -> _Sizes:
        """The bytes of each storage of a device that a value keeps."""
        found: _Sizes = {}
        with torch._C.DisableTorchFunctionSubclass():
            for tensor in self._list_tensors([value], _DEPTH):
                for leaf in (tensor, tensor.grad if tensor.is_leaf else None, *self._list_leaves(tensor)):
                    if leaf is not None:
                        found.update(((device, address), size) for _, device, address, size in storages_of("", leaf))
        return found

    def _list_tensors(self, values: Iterable, depth: int) -> Iterator[torch.Tensor]:
        for value in values:
            if not self._left.has():
                return
            if issubclass(type(value), torch.Tensor):
                yield value
            elif issubclass(type(value), torch.nn.Module):
                yield from (tensor for _, tensor in own_tensors([value]))
            elif issubclass(type(value), torch.optim.Optimizer):
                yield from self._list_tensors([value.param_groups, dict(value.state)], _DEPTH)
            elif depth:
                yield from self._list_tensors(_list_parts(value), depth - 1)

    def _list_leaves(self, tensor: torch.Tensor) -> Iterator[torch.Tensor]:
        """The tensors that accumulate gradients in the graph of a result."""
        waiting = [tensor.grad_fn]
        while waiting and self._nodes.has():
            node = waiting.pop()
            if node is None or node in self._seen:
                continue
            self._seen.add(node)
            # A function of the program's may have an attribute of this name.
            if type(node) is _ACCUMULATE:
                yield node.variable
            waiting += [following for following, _ in node.next_functions]


def _list_parts(value: object) -> list[object]:
    """The elements of a container, or the attributes of an object; empty for a large one."""
    if type(value) in (list, tuple, dict, set):
        return objects.list_items(value, _ELEMENTS) if len(value) <= _ELEMENTS else []
    if objects.is_a(value, (type, types.ModuleType, types.FunctionType)):
        return []
    return objects.list_items(objects.list_own(value), _ELEMENTS)
