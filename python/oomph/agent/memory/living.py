"""The living program at an out-of-memory error: root modules, and tensors that only a traceback or a reference cycle keeps alive.

Note [Unreachable objects]
~~~~~~~~~~~~~~~~~~~~~~~~~~
The garbage collector finds objects in reference cycles to which the rest of the program has no reference. With `gc.DEBUG_SAVEALL` the
collector lists these objects instead of freeing them. The list is cleared at the end, and the objects are as unreachable as before. Their
finalizers have run, as at any collection.

Note [Kept wrappers]
~~~~~~~~~~~~~~~~~~~~
A tensor of autograd's may still have a Python object, which then belongs to the tensor (torch/csrc/autograd/python_variable.cpp, 2.11). The
object is recognised by the absence of references: from other objects, and from variables of running functions.
"""

import gc
import sys
import types
from collections.abc import Iterable, Iterator

import torch

from .. import records
from ..position.modules import Modules
from ..process import frames, local_variables, objects
from ..process.objects import Budget
from . import keepers
from .census import Census, storages_of
from .referrers import list_referrers

# The search through containers in local variables ends at this depth, and at these numbers of elements: of one container, and of all.
_DEPTH = 2
_ELEMENTS = 1000
_ALL_ELEMENTS = 200_000
# The most exceptions with a traceback that are searched.
_MOST_ERRORS = 1000


class Living:
    """Searches the objects of the process."""

    def __init__(self, modules: Modules, census: Census) -> None:
        self._modules = modules
        self._census = census

    def list_roots(self) -> Iterator[dict]:
        """The records of the root modules so far; a module that is gone has no addresses."""
        for call in self._modules.calls:
            root = call.root()
            tensors = () if root is None else self._census.list_of(root)
            yield records.root(
                number=call.number,
                name=call.name,
                last_call=call.last,
                is_running=call.is_running and root is not None,
                addresses=sorted({address for tensor in tensors for address in _addresses(tensor)}),
                is_without_grad=call.is_without_grad,
            )

    def describe_visible(self) -> dict:
        """The record of the reachable tensors. See Note [Kept wrappers]."""
        tensors = {id(it): it for it in gc.get_objects() if issubclass(type(it), torch.Tensor)}
        seen = {id(it) for holder in list_referrers(tensors) for it in gc.get_referents(holder) if id(it) in tensors}
        for frame in frames.list_running(sys._getframe(1)):
            values = local_variables.read_all(frame, list(frame.f_code.co_varnames)).values()
            seen.update(id(it) for it in values if it is not tensors)
        return records.visible(addresses=sorted({address for key, it in tensors.items() if key in seen for address in _addresses(it)}))

    def list_keepers(self) -> Iterator[dict]:
        """The records of the containers with many tensors."""
        return keepers.list_keepers(_storages)

    def list_held(self) -> Iterator[dict]:
        """The records of tensors in tracebacks, one for each exception, and in unreachable cycles."""
        left = Budget(_ALL_ELEMENTS)
        errors = [it for it in gc.get_objects() if issubclass(type(it), BaseException)]
        for error, trace in [(it, trace) for it in errors if (trace := _read_traceback(it)) is not None][:_MOST_ERRORS]:
            found = sorted(_addresses_in_traceback(trace, left))
            if found:
                file, line = frames.users_line_of_error(trace)
                what = objects.name_of_class(type(error))
                yield records.held(holder="traceback", what=what, file=file or "", line=line or 0, addresses=found)
        found = sorted(_addresses_in_cycles())
        if found:
            yield records.held(holder="cycle", what="", file="", line=0, addresses=found)


_read_traceback = BaseException.__dict__["__traceback__"].__get__


def _addresses_in_traceback(trace: types.TracebackType | None, left: Budget) -> set[int]:
    """The storages in the variables of the functions in a traceback, but for those still running."""
    running = {id(frame) for frame in frames.list_running(sys._getframe())}
    found: set[int] = set()
    while trace is not None:
        frame = trace.tb_frame
        if id(frame) not in running and frame.f_code.co_name != "<module>":
            variables = local_variables.read_all(frame, list(frame.f_code.co_varnames))
            found.update(address for tensor in _tensors_in(variables.values(), _DEPTH, left) for address in _addresses(tensor))
        trace = trace.tb_next
    return found


def _addresses_in_cycles() -> set[int]:
    """The storages of unreachable tensors. See Note [Unreachable objects]."""
    flags, before = gc.get_debug(), len(gc.garbage)
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        return {address for it in gc.garbage[before:] if issubclass(type(it), torch.Tensor) for address in _addresses(it)}
    finally:
        gc.set_debug(flags)
        del gc.garbage[before:]


def _tensors_in(values: Iterable, depth: int, left: Budget) -> Iterator[torch.Tensor]:
    for value in values:
        if not left.has():
            return
        if issubclass(type(value), torch.Tensor):
            yield value
        elif depth and type(value) in (list, tuple, dict) and len(value) <= _ELEMENTS:
            yield from _tensors_in(value.values() if type(value) is dict else value, depth - 1, left)


def _addresses(tensor: torch.Tensor) -> list[int]:
    """The addresses of the storages on devices."""
    return list(_storages(tensor))


def _storages(tensor: torch.Tensor) -> dict[int, int]:
    """The bytes of the storages on devices by address; empty for a wrapper without storage, such as functorch's."""
    try:
        with torch._C.DisableTorchFunctionSubclass():
            return {address: size for _, _, address, size in storages_of("", tensor)}
    except RuntimeError:
        return {}
