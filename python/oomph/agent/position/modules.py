"""Forward passes: the running module, the phase, and all root modules.

A root is a module that the program calls, or moves to a device, itself. Names are qualified from the outermost root, as
`named_modules` has them; the root itself goes by its class.
"""

import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator

import torch
from torch.nn.modules import module as nn_module

from ..failure import guarded, tell
from ..hooks import events
from ..process import objects
from .marks import Marks


def _is_traced() -> bool:
    """True if a compiler reads the module's code, instead of running it."""
    return torch.compiler.is_compiling() or torch._C._get_tracing_state() is not None


class _Named:
    """A module's name, and the pre-hook that names its backward."""

    __slots__ = ("name", "reference", "announce", "call")

    def __init__(self, module: torch.nn.Module, name: str, marks: Marks, call: "Call") -> None:
        # The calls of its root.
        self.call = call
        self.reference = weakref.ref(module)
        self.name = name
        self.announce = lambda _gradients: marks.enter_module(name)


# A program that makes a module for every sample has no use for more.
_MOST_ROOTS = 1000
# The elements of a module's output that are searched for a tensor.
_MOST_OUTPUTS = 1000


class Call:
    """The calls of a root, or of a part of it from outside."""

    __slots__ = ("number", "name", "root", "last", "is_running", "is_without_grad")

    def __init__(self, number: int, root: torch.nn.Module) -> None:
        self.number = number
        self.name = type(root).__name__
        self.root = weakref.ref(root)
        # Among the calls of all roots, counted from 1.
        self.last = 0
        self.is_running = False
        # True until a call records gradients.
        self.is_without_grad = True


class Modules:
    """The hooks on every module's forward."""

    def __init__(self, marks: Marks, first_forward: Callable[[torch.nn.Module], object], after_forward: Callable[[], object] = lambda: None) -> None:
        self.marks = marks
        self._after_forward = after_forward
        self.roots: weakref.WeakSet[torch.nn.Module] = weakref.WeakSet()
        self._first_forward = first_forward
        self._unseen: weakref.WeakSet[torch.nn.Module] = weakref.WeakSet()
        # By id, because a module's own hash may be costly; an entry counts only while its reference is the module.
        self._names: dict[int, _Named] = {}
        # Hears of each call of a root.
        self.on_call: Callable[[torch.nn.Module], object] = lambda _module: None
        self._last_output = 0
        # Of every root so far, up to a number.
        self.calls: list[Call] = []
        self._root_count = 0
        # Of all roots.
        self.call_count = 0

    def install(self) -> None:
        """Hooks every module there is and will be."""
        nn_module.register_module_forward_pre_hook(self._before)
        nn_module.register_module_forward_hook(self._after, always_call=True)
        for around in (events.around_move, events.around_cuda):
            around(events.before(self._note_move))
        # The agent's hooks are inert under compilation, so the warning does not apply.
        warnings.filterwarnings("ignore", message="Using `torch.compile\\(module\\)` when there are global hooks")

    def add_root(self, module: torch.nn.Module) -> None:
        """Remembers a root and names all modules below; a part of a known root is not a root."""
        if self._named(module) is not None:
            return
        self.roots.add(module)
        call = Call(self._root_count, module)
        self._root_count += 1
        if len(self.calls) < _MOST_ROOTS:
            self.calls.append(call)
        if next(own_tensors([module]), None) is not None:
            self._unseen.add(module)
        for name, child in list_modules(module):
            self._names[id(child)] = _Named(child, name or type(module).__name__, self.marks, call)

    @guarded
    def _note_move(self, module: torch.nn.Module, *_args, **_kwargs) -> None:
        """A model without a forward pass is known, too."""
        if not _is_traced():
            self.add_root(module)

    # The next two run at every call of every module: they are `guarded` by hand, which saves a microsecond each.

    def _before(self, module: torch.nn.Module, _args) -> None:
        if not _is_traced():
            try:
                self._enter(module)
            except Exception as error:
                tell("forward pre-hook", error)

    def _after(self, module: torch.nn.Module, _args, output) -> None:
        if not _is_traced():
            try:
                self._leave(module, output)
            except Exception as error:
                tell("forward hook", error)

    def _enter(self, module: torch.nn.Module) -> None:
        marks = self.marks
        place = marks.thread
        named = self._named(module) or self._name(module)
        # Recomputation during backward stays backward.
        if not place.callers and marks.phase != "backward":
            self.on_call(module)
            marks.enter_phase("forward")
            self._note_call(named.call)
        place.callers.append((id(module), place.module))
        self._last_output = 0
        marks.enter_module(named.name)

    def _leave(self, module: torch.nn.Module, output) -> None:
        place = self.marks.thread
        named = self._named(module)
        # An interrupt can leave callers that never returned; their entries end with the module below.
        while place.callers:
            caller, before = place.callers.pop()
            if caller == id(module):
                break
        else:
            return
        if named is not None:
            self._announce_backward(named, output)
        self.marks.enter_module(before)
        if not place.callers and named is not None:
            named.call.is_running = False
        # A forward that raised arrives here without an output, and does not count as the first success.
        if not place.callers and output is not None:
            self._after_forward()
            if module in self._unseen:
                self._unseen.discard(module)
                self._first_forward(module)

    def _note_call(self, call: Call) -> None:
        self.call_count += 1
        call.last, call.is_running = self.call_count, True
        call.is_without_grad = call.is_without_grad and not torch.is_grad_enabled()

    def _named(self, module: torch.nn.Module) -> _Named | None:
        named = self._names.get(id(module))
        return named if named is not None and named.reference() is module else None

    def _name(self, module: torch.nn.Module) -> _Named:
        """Names a module at its first call: a root, or a module added to its parent later."""
        callers = self.marks.thread.callers
        parent = self._names[callers[-1][0]] if callers else None
        if parent is None:
            self.add_root(module)
        else:
            self._names[id(module)] = _Named(module, self._name_below(parent, module), self.marks, parent.call)
        return self._names[id(module)]

    def _name_below(self, parent: _Named, module: torch.nn.Module) -> str:
        owner = parent.reference()
        children = list_children(owner) if owner is not None else ()
        name = next((name for name, child in children if child is module), type(module).__name__)
        return name if owner in self.roots else f"{parent.name}.{name}"

    def _announce_backward(self, named: _Named, output) -> None:
        """Makes the graph node of `output` announce the backward of the module.

        A parent that returns its last child's output would hide the child: of equal outputs the innermost is named.
        """
        tensor = _first_tensor(output)
        if tensor is None or id(tensor) == self._last_output:
            return
        self._last_output = id(tensor)
        node = tensor.grad_fn
        if node is not None:
            node.register_prehook(named.announce)


def _first_tensor(output) -> torch.Tensor | None:
    """The tensor that stands for a module's output: itself, or the first in a tuple, list or mapping."""
    if objects.is_a(output, torch.Tensor):
        return output
    return next((item for item in objects.list_items(output, _MOST_OUTPUTS) if objects.is_a(item, torch.Tensor)), None)


def list_modules(root: torch.nn.Module) -> Iterator[tuple[str, torch.nn.Module]]:
    """A module and all below, each once, with the names and in the order of `named_modules`, which the program may have overridden."""
    seen, waiting = set(), [("", root)]
    while waiting:
        name, module = waiting.pop()
        if id(module) in seen:
            continue
        seen.add(id(module))
        yield name, module
        waiting += [(f"{name}.{key}" if name else key, child) for key, child in reversed(list_children(module))]


def list_children(module: torch.nn.Module) -> list[tuple[str, torch.nn.Module]]:
    """The modules directly in a module, by name."""
    return [(name, child) for name, child in _list_of(module, "_modules") if objects.is_a(child, torch.nn.Module)]


def own_tensors(roots: Iterable[torch.nn.Module]) -> Iterator[tuple[str, torch.Tensor]]:
    """Every parameter and buffer below the roots, as `(category, tensor)`."""
    for root in roots:
        for _, module in list_modules(root):
            for category, kept in (("parameter", "_parameters"), ("buffer", "_buffers")):
                yield from ((category, tensor) for _, tensor in _list_of(module, kept) if objects.is_a(tensor, torch.Tensor))


def _list_of(module: torch.nn.Module, kept: str) -> list[tuple[str, object]]:
    """The items of a dict of a module's own: a parametrised module computes what `getattr` returns."""
    found = objects.list_own(module).get(kept)
    if objects.is_a(found, dict):
        return list(dict.items(found))
    # Compiled modules keep theirs in C++ (torch/jit/_script.py).
    return list(found.items()) if objects.module_of_class(type(found)) == "torch.jit._script" else []
