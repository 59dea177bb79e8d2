"""The passes of a loop: their number, and the value of the target in a pass."""

import ast
from collections.abc import Iterator

import torch
from torch.utils.data import DataLoader

from ..process import objects
from ..source.names import name_of_call
from ..source.scope import UNKNOWN, Scope
from .samples import are_alike, count_batches

# Functions such as tqdm's and rich's, which yield the items of an argument.
_WRAPPERS = {"tqdm", "track", "progress_bar", "iter", "list", "tuple", "cycle", "prefetch"}
_RANGES = {"range", "trange"}
# The end of a loop that ends in another way.
_FAR = 1 << 62
# The most elements of a list that are read.
_ELEMENTS = 1 << 17
_SEQUENCES = (range, list, tuple)
# The bars around bars, and the calls around the items, that are searched for the items.
_WRAPPED = 16


class Passes:
    """The items of a loop."""

    def __init__(self, total: int | None, values: object = UNKNOWN, *, is_alike: bool = True) -> None:
        # The number of passes; `None` if unknown.
        self.total = total
        self._values = values
        # True if unknown values have the same shapes in each pass.
        self.is_alike = is_alike

    def value(self, index: int) -> object:
        """The target in one pass, counted from 0."""
        values = self._values
        return values[index] if type(values) in _SEQUENCES and 0 <= index < len(values) else UNKNOWN

    def find(self, value: object) -> int | None:
        """The pass with this value; `None` unless exactly one pass matches."""
        values = self._values
        if type(values) is range:
            # A range compares a value of any other type with each number.
            return values.index(value) if type(value) is int and value in values else None
        if type(values) not in _SEQUENCES or len(values) > _ELEMENTS or type(value) not in (int, float, str):
            return None
        found = [index for index, it in enumerate(values) if type(it) in (int, float, str) and it == value]
        return found[0] if len(found) == 1 else None


class Numbered(Passes):
    """`enumerate`: a number beside each value."""

    def __init__(self, inner: Passes, start: int) -> None:
        super().__init__(inner.total, is_alike=inner.is_alike)
        self._inner, self._start = inner, start

    def value(self, index: int) -> object:
        """The number and the value."""
        return self._start + index, self._inner.value(index)

    def find(self, value: object) -> int | None:
        """The pass with this number."""
        number = value[0] if type(value) is tuple and value else None
        return number - self._start if type(number) is int and number >= self._start else None


class Zipped(Passes):
    """`zip`: the values of several parts, until a part is at its end."""

    def __init__(self, parts: list[Passes]) -> None:
        totals = [part.total for part in parts if part.total is not None]
        super().__init__(min(totals, default=None), is_alike=all(part.is_alike for part in parts))
        self._parts = parts

    def value(self, index: int) -> object:
        """One value from each part."""
        return tuple(part.value(index) for part in self._parts)

    def find(self, value: object) -> int | None:
        """The pass of the first value with a known pass."""
        if type(value) is not tuple or len(value) != len(self._parts):
            return None
        found = (part.find(it) for part, it in zip(self._parts, value))
        return next((it for it in found if it is not None), None)


def read_passes(loop: ast.For | ast.AsyncFor | ast.While, scope: Scope) -> Passes:
    """The passes of a loop; a `while` has numbered passes."""
    return Passes(None, range(_FAR)) if isinstance(loop, ast.While) else _read(loop.iter, scope, _WRAPPED)


def _read(node: ast.expr, scope: Scope, depth: int) -> Passes:
    if isinstance(node, ast.Call) and depth:
        name = name_of_call(node)
        if name == "enumerate" and node.args:
            start = scope.evaluate(node.args[1]) if len(node.args) > 1 else 0
            return Numbered(_read(node.args[0], scope, depth - 1), start if type(start) is int else 0)
        if name == "zip":
            return Zipped([_read(part, scope, depth - 1) for part in node.args])
        if name in _WRAPPERS and node.args:
            return _read(node.args[0], scope, depth - 1)
        if name in _RANGES:
            return _of_range(node, scope)
        if name == "count":
            start = scope.evaluate(node.args[0]) if node.args else 0
            return Passes(None, range(start, _FAR) if type(start) is int else UNKNOWN)
    return _of_value(scope.evaluate(node), _WRAPPED)


def _of_range(node: ast.Call, scope: Scope) -> Passes:
    numbers = [scope.evaluate(argument) for argument in node.args]
    if 0 < len(numbers) < 4 and all(type(it) is int for it in numbers) and (len(numbers) < 3 or numbers[2] != 0):
        values = range(*numbers)
        # Python's `len` has a limit.
        return Passes(len(values), values) if abs(values.stop - values.start) <= _FAR else Passes(None)
    return Passes(None, is_alike=True)


def _of_value(value: object, depth: int) -> Passes:
    # tqdm's bars keep the items.
    inner = objects.list_own(value).get("iterable") if _is_bar(value) else None
    if inner is not None and depth:
        return _of_value(inner, depth - 1)
    if type(value) in _SEQUENCES:
        is_plain = type(value) is range or all(type(it) in (int, float, str, tuple) for it in value[:1000])
        return Passes(len(value), value) if is_plain else Passes(len(value), is_alike=have_one_shape(value))
    if objects.is_a(value, DataLoader):
        return Passes(count_batches(value), is_alike=are_alike(value))
    return Passes(None, is_alike=False)


def _is_bar(value: object) -> bool:
    module = objects.find_in_class(value, "__module__")
    return type(module) is str and module.startswith("tqdm")


def have_one_shape(values: list | tuple) -> bool:
    """True if all items are tensors of one shape, or tuples of them; False for a long list, which is not read."""
    if len(values) > _ELEMENTS:
        return False
    shapes = {shape for value in values for shape in _shapes(value)}
    return all(objects.is_a(value, (torch.Tensor, tuple, list)) for value in values) and len(shapes) <= 1


def _shapes(value: object) -> Iterator[tuple]:
    if objects.is_a(value, torch.Tensor):
        yield (tuple(value.shape),)
    elif objects.is_a(value, (tuple, list)):
        items = objects.list_items(value, _ELEMENTS)
        yield tuple(tuple(it.shape) if objects.is_a(it, torch.Tensor) else objects.name_of_class(type(it)) for it in items)
    else:
        yield (objects.name_of_class(type(value)),)
