"""The replacement of a name, with layers: Note [Replacements]."""

import contextlib
import dataclasses
import functools
import importlib
import inspect
import sys
import types
from collections.abc import Callable, Iterator

from ..failure import guarded
from .importing import after_import
from .parameters import ABSENT, describe
from .table import ROWS, Row

# Runs in place of a function: `layer(call, *args, **kwargs)`.
Layer = Callable[..., object]

__all__ = ["after_import", "around", "find_caller", "innermost", "masked", "put", "spread", "without"]


class Replaced:
    """A replaced function and its layers, the outermost last."""

    def __init__(self, row: Row, original: Callable) -> None:
        self.row = row
        self.original = original
        self.parameters = describe(original)
        self.layers: list[Layer] = []
        # True once the program has called the function.
        self.is_run = row.is_traced
        self.call = original
        self._whole = original

    def add(self, layer: Layer, is_inner: bool = False) -> None:
        """Puts a layer around all others, or inside of them."""
        self.layers.insert(0 if is_inner else len(self.layers), layer)
        self._compose()

    def remove(self, layer: Layer) -> None:
        """Removes a layer."""
        self.layers.remove(layer)
        self._compose()

    def _compose(self) -> None:
        self._whole = self.original
        for layer in self.layers:
            self._whole = functools.partial(layer, self._whole)
        self.call = self._whole if self.is_run else self._run_first

    def _run_first(self, *args, **kwargs):
        self.is_run, self.call = True, self._whole
        return self._whole(*args, **kwargs)


# The replaced values by name: what they were.
PUT: dict[str, str] = {}
# The replaced functions by name; `None` for a name that the library does not have.
REPLACED: dict[str, Replaced | None] = {}


@guarded
def around(name: str, layer: Layer, is_inner: bool = False) -> None:
    """Has `layer(call, *args, **kwargs)` run in place of the function of this name, now or once its module is imported.

    `is_inner`: inside of all layers so far, so that `call` is the function itself.
    """
    row = ROWS[name]
    if row.module in sys.modules:
        _add(row, layer, is_inner)
    else:
        after_import(row.module, functools.partial(_add, row, layer, is_inner))


@guarded
def without(name: str, layer: Layer) -> None:
    """Removes a layer; the stand-in stays."""
    replaced = REPLACED.get(name)
    if replaced is not None:
        replaced.remove(layer)


@guarded
def put(name: str, value: object) -> None:
    """Sets the name and its aliases, of an imported module, to a value."""
    row = ROWS[name]
    for each in (row.name, *row.aliases):
        holder, attribute = _find(each)
        is_there = holder is not None and hasattr(holder, attribute)
        PUT.setdefault(name, describe(getattr(holder, attribute)) if is_there else ABSENT)
        if is_there:
            setattr(holder, attribute, value)


def find_value(name: str) -> object | None:
    """The value of a name of an imported module; `None` for a name that the library does not have."""
    holder, attribute = _find(name)
    return getattr(holder, attribute, None)


def _add(row: Row, layer: Layer, is_inner: bool) -> None:
    for each in _list_functions(row):
        _add_to(each, layer, is_inner)


def _list_functions(row: Row) -> list[Row]:
    """The row; of a name that ends with `*`, a row for each function whose name begins so, of the module or the class itself."""
    if not row.name.endswith("*"):
        return [row]
    holder, beginning = _find(row.name[:-1])
    found = {} if holder is None else vars(holder)
    names = [name for name, value in found.items() if name.startswith(beginning) and inspect.isroutine(value)]
    stem = row.name[: len(row.name) - len(beginning) - 1]
    return [dataclasses.replace(row, name=stem + name) for name in names]


def _add_to(row: Row, layer: Layer, is_inner: bool) -> None:
    if row.name not in REPLACED:
        REPLACED[row.name] = _replace(row)
    replaced = REPLACED[row.name]
    if replaced is not None:
        replaced.add(layer, is_inner)


def _replace(row: Row) -> Replaced | None:
    """Sets all names of the function to a stand-in."""
    holder, attribute = _find(row.name)
    found = ABSENT if holder is None else inspect.getattr_static(holder, attribute, ABSENT)
    if found is ABSENT:
        return None
    original = _function_of(found, holder, attribute)
    if not callable(original):
        return None
    replaced = Replaced(row, original)
    stand_in = _stand_in(replaced, original)
    if isinstance(original, types.BuiltinFunctionType):
        # The module of `os.rename` is `posix`, where pickle would find the original.
        stand_in.__module__ = row.module
    setattr(holder, attribute, _wrap_as(found, stand_in))
    for name in row.aliases:
        other, attribute = _find(name)
        if other is not None and hasattr(other, attribute):
            # In Python 3.10 classes of pathlib hold functions of `os`, without `self`.
            is_static = inspect.isclass(other) and not inspect.isclass(holder)
            setattr(other, attribute, staticmethod(stand_in) if is_static else _wrap_as(found, stand_in))
    return replaced


@contextlib.contextmanager
def masked(name: str, value: object) -> Iterator[None]:
    """Sets an attribute that a module lacks, and deletes the attribute at the end."""
    holder, attribute = _find(ROWS[name].name)
    setattr(holder, attribute, value)
    try:
        yield
    finally:
        delattr(holder, attribute)


@guarded
def spread(name: str) -> None:
    """Replaces a function in all modules that imported the original before."""
    replaced = REPLACED.get(name)
    if replaced is None:
        return
    holder, attribute = _find(name)
    stand_in = getattr(holder, attribute)
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", {})
        for each in [each for each, value in names.items() if value is replaced.original]:
            names[each] = stand_in


def innermost(call: Callable) -> Callable:
    """The function of the library itself, below all layers."""
    while isinstance(call, functools.partial):
        # The last: a layer may be a partial function itself, whose own arguments come before.
        call = call.args[-1]
    return call


def find_caller() -> types.FrameType | None:
    """The frame that called the replaced function, for a layer."""
    own, frame = find_caller.__code__.co_filename, sys._getframe(1)
    while frame is not None and not (frame.f_code.co_name == "stand_in" and frame.f_code.co_filename == own):
        frame = frame.f_back
    return None if frame is None else frame.f_back


def _find(name: str) -> tuple[object | None, str]:
    """The module or class that holds a name, `None` where there is none, and the attribute."""
    module, _, path = name.partition(":")
    *holders, attribute = path.split(".")
    found = sys.modules.get(module)
    for holder in holders:
        found = getattr(found, holder, None)
    return found, attribute


def _function_of(found: object, holder: object, attribute: str) -> object:
    """The function itself, of a class method or a static method too."""
    if isinstance(found, (staticmethod, classmethod)):
        return found.__func__
    if isinstance(found, property):
        return found.fget
    is_own = inspect.isclass(holder) and callable(found) and not isinstance(found, types.ClassMethodDescriptorType)
    return found if is_own else getattr(holder, attribute)


def _wrap_as(found: object, stand_in: Callable) -> object:
    """The stand-in, as an attribute of the same kind."""
    if isinstance(found, (staticmethod, classmethod)):
        return type(found)(stand_in)
    if isinstance(found, types.ClassMethodDescriptorType):
        return staticmethod(stand_in)
    return property(stand_in, found.fset, found.fdel, found.__doc__) if isinstance(found, property) else stand_in


def _stand_in(replaced: Replaced, original: Callable) -> Callable:
    if inspect.iscoroutinefunction(original):

        @functools.wraps(original)
        async def stand_in(*args, **kwargs):
            answer = replaced.call(*args, **kwargs)
            # A layer that does not call the function answers at once.
            return await answer if inspect.isawaitable(answer) else answer

        return stand_in
    # While PyTorch itself is imported, its compiler is not there yet, and `torch.hub` is no matter of the compiler.
    is_torchs = replaced.row.library == "torch" and not replaced.row.is_traced and "torch.compiler" in sys.modules
    return _make_untraced(replaced, original) if is_torchs else _make(replaced, original)


def _make(replaced: Replaced, original: Callable) -> Callable:
    @functools.wraps(original)
    def stand_in(*args, **kwargs):
        return replaced.call(*args, **kwargs)

    return stand_in


def _make_untraced(replaced: Replaced, original: Callable) -> Callable:
    """A stand-in in whose place the compiler sees the original."""
    compiler = importlib.import_module("torch.compiler")

    @functools.wraps(original)
    def stand_in(*args, **kwargs):
        return original(*args, **kwargs) if compiler.is_compiling() else replaced.call(*args, **kwargs)

    return stand_in
