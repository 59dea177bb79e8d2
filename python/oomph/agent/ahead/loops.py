"""The passes of a loop: their number, and the value of the target in a pass."""

import ast
from collections.abc import Iterator

import torch
from torch.utils.data import DataLoader

from .evaluate import UNKNOWN, Scope, Unknown, length
from .samples import are_alike

# Functions such as tqdm's and rich's, which yield the items of an argument.
_WRAPPERS = {"tqdm", "track", "progress_bar", "iter", "list", "tuple", "cycle", "prefetch"}
_RANGES = {"range", "trange"}
# The end of a loop that ends in another way.
_FAR = 1 << 62


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
        return values[index] if isinstance(values, (range, list, tuple)) and index < len(values) else UNKNOWN

    def find(self, value: object) -> int | None:
        """The pass with this value; `None` unless exactly one pass matches."""
        if not isinstance(self._values, (range, list, tuple)) or not isinstance(value, (int, float, str)):
            return None
        values = self._values
        return values.index(value) if value in values and (isinstance(values, range) or values.count(value) == 1) else None


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
        number = value[0] if isinstance(value, tuple) and value else None
        return number - self._start if isinstance(number, int) else None


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
        if not isinstance(value, tuple) or len(value) != len(self._parts):
            return None
        found = (part.find(it) for part, it in zip(self._parts, value))
        return next((it for it in found if it is not None), None)


def read_passes(loop: ast.For | ast.AsyncFor | ast.While, scope: Scope) -> Passes:
    """The passes of a loop; a `while` has numbered passes."""
    return Passes(None, range(_FAR)) if isinstance(loop, ast.While) else _read(loop.iter, scope)


def _read(node: ast.expr, scope: Scope) -> Passes:
    if isinstance(node, ast.Call):
        name = getattr(node.func, "attr", None) or getattr(node.func, "id", "")
        if name == "enumerate" and node.args:
            start = scope.evaluate(node.args[1]) if len(node.args) > 1 else 0
            return Numbered(_read(node.args[0], scope), start if isinstance(start, int) else 0)
        if name == "zip":
            return Zipped([_read(part, scope) for part in node.args])
        if name in _WRAPPERS and node.args:
            return _read(node.args[0], scope)
        if name in _RANGES:
            return _of_range(node, scope)
        if name == "count":
            start = scope.evaluate(node.args[0]) if node.args else 0
            return Passes(None, range(start, _FAR) if isinstance(start, int) else UNKNOWN)
    return _of_value(scope.evaluate(node))


def _of_range(node: ast.Call, scope: Scope) -> Passes:
    numbers = [scope.evaluate(argument) for argument in node.args]
    if 0 < len(numbers) < 4 and all(isinstance(it, int) for it in numbers) and (len(numbers) < 3 or numbers[2] != 0):
        values = range(*numbers)
        return Passes(len(values), values)
    return Passes(None, is_alike=True)


def _of_value(value: object) -> Passes:
    # tqdm's bars keep the items.
    inner = getattr(value, "__dict__", {}).get("iterable") if type(value).__module__.startswith("tqdm") else None
    if inner is not None:
        return _of_value(inner)
    if isinstance(value, (range, list, tuple)):
        is_plain = all(isinstance(it, (int, float, str)) or type(it) is tuple for it in value[:1000])
        return Passes(len(value), value) if is_plain else Passes(len(value), is_alike=have_one_shape(value))
    if isinstance(value, DataLoader):
        total = length(value)
        return Passes(None if isinstance(total, Unknown) else total, is_alike=are_alike(value))
    return Passes(None, is_alike=False)


def have_one_shape(values: list | tuple) -> bool:
    """True if all items are tensors of one shape, or tuples of them."""
    shapes = {shape for value in values for shape in _shapes(value)}
    return all(isinstance(value, (torch.Tensor, tuple, list)) for value in values) and len(shapes) <= 1


def _shapes(value: object) -> Iterator[tuple]:
    if isinstance(value, torch.Tensor):
        yield (tuple(value.shape),)
    elif isinstance(value, (tuple, list)):
        yield tuple(tuple(it.shape) if isinstance(it, torch.Tensor) else type(it).__name__ for it in value)
    else:
        yield (type(value).__name__,)
