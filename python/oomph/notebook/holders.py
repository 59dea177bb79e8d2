"""The holders of device memory, by name: variables, outputs, tracebacks, cycles, modules, running functions."""

import gc
import sys
import threading
import types
from collections.abc import Iterator
from dataclasses import dataclass, field

from . import kinds
from .heap import Heap
from .shell import Shell, list_traces

# The running functions of this package hold the objects under search.
_OURS = __name__.rpartition(".")[0]


@dataclass
class Holder:
    """A name and the held objects."""

    name: str
    kind: str
    roots: list[object]
    aliases: list[str] = field(default_factory=list)
    detail: str = ""
    # The ids of objects that belong to another holder.
    ends: set[int] = field(default_factory=set)


def list_ends(shell: Shell) -> set[int]:
    """The ids of the objects where a search ends: the modules, their variables, and the parts of IPython with theirs."""
    ends: set[int] = {id(sys.modules), id(sys.__dict__)}
    for module in list(sys.modules.values()):
        variables = kinds.read_module(module)
        if variables is not None:
            ends.update((id(module), id(variables)))
    for part in shell.list_parts():
        ends.add(id(part))
        if type(part) is not dict:
            ends.update(id(it) for it in gc.get_referents(part) if type(it) is dict)
    return ends


def list_holders(shell: Shell, heap: Heap) -> Iterator[Holder]:
    """Every holder of an object of the heap, in order: a block counts for the first holder that leads to it."""
    yield from _list_variables(shell, heap)
    for name, (value, others) in shell.list_outputs().items():
        if _is_in(heap, value):
            yield Holder(name, "output", [value], others)
    errors = shell.list_exceptions()
    if errors:
        yield Holder("traceback", "traceback", errors, detail=_describe_errors(errors))
    if heap.unreachable:
        # IPython leaves cycles around the frames of each traceback that it shows.
        frames = {id(trace.tb_frame) for trace in list_traces(errors)}
        yield Holder("cycles", "cycle", heap.unreachable, detail=_describe_cycles(heap.unreachable), ends=frames)
    yield from _list_modules(shell, heap)
    yield from _list_threads(heap)


def _is_in(heap: Heap, value: object) -> bool:
    return id(value) in heap.objects


def _list_variables(shell: Shell, heap: Heap) -> Iterator[Holder]:
    for name, value in shell.list_variables().items():
        if _is_in(heap, value) and kinds.read_module(value) is None:
            yield Holder(name, "variable", [value])


def _describe_errors(errors: list[object]) -> str:
    names = [kinds.name_of(type(it)) for it in errors if type(it) is not types.TracebackType]
    return ", ".join(dict.fromkeys(names))


def _describe_cycles(found: list[object]) -> str:
    """The classes of the unreachable objects, the user's first."""
    names = [kinds.name_of(type(it)) for it in found if kinds.is_users(type(it))] or [kinds.name_of(type(it)) for it in found]
    return "unreachable: " + ", ".join(list(dict.fromkeys(names))[:3])


def _list_modules(shell: Shell, heap: Heap) -> Iterator[Holder]:
    for name, module in list(sys.modules.items()):
        variables = kinds.read_module(module)
        if variables is None or variables is shell.names or variables is sys.__dict__:
            continue
        for key, value in list(variables.items()):
            if _is_in(heap, value) and type(key) is str:
                yield Holder(f"{name}.{key}", "module", [value], [name])


def _list_threads(heap: Heap) -> Iterator[Holder]:
    """The variables of running functions, by thread."""
    from ..agent.process import local_variables

    names = {it.ident: it.name for it in threading.enumerate()}
    for thread, frame in sys._current_frames().items():
        roots: list[object] = []
        functions: dict[str, None] = {}
        while frame is not None:
            code = frame.f_code
            found = [] if _is_ours(frame) else local_variables.read_all(frame, [*code.co_varnames, *code.co_cellvars, *code.co_freevars]).values()
            held = [it for it in found if _is_in(heap, it)]
            if held:
                functions[code.co_name] = None
            roots += held
            frame = frame.f_back
        if roots:
            name = "running functions" if thread == threading.get_ident() else f"thread:{names.get(thread, thread)}"
            yield Holder(name, "thread", roots, detail=", ".join(functions))


def _is_ours(frame: types.FrameType) -> bool:
    name = frame.f_globals.get("__name__")
    return type(name) is str and (name == _OURS or name.startswith(f"{_OURS}."))
