"""Sizes of batches and of samples, by the tensors in them."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from ...process import objects

# The containers around a tensor, and the values in one batch or sample.
_DEPTH, _VALUES = 8, 4_000
# The shapes in a text, and the bytes of a number in a list.
_SHAPES, _NUMBER = 3, 8
_PLAIN = (int, float, bool, complex, type(None), str, bytes, type, torch.nn.Module)


@dataclass(frozen=True, order=True)
class Size:
    """The size of a batch: its bytes, then its longest dimension."""

    bytes: int
    longest: int
    # The shapes, the largest tensors first, such as `input_ids 8x2048`.
    shape: str


@dataclass(frozen=True)
class Part:
    """A tensor, or what a collate function makes a tensor of."""

    name: str
    shape: tuple[int, ...]
    width: int
    # True for a text, whose tokens are not known yet.
    is_text: bool = False

    @property
    def bytes(self) -> int:
        """The bytes of the part."""
        return count_elements(self.shape) * self.width


def measure(batch: object) -> Size:
    """The size of a batch."""
    parts = sorted((it for it in list_parts(batch) if it.name is not None), key=lambda it: -it.bytes)
    shapes: dict[tuple[int, ...], str] = {}
    for part in parts:
        shapes.setdefault(part.shape, f"{part.name} {_write(part.shape)}".strip())
    longest = max((side for part in parts for side in part.shape), default=0)
    return Size(sum(part.bytes for part in parts), longest, ", ".join(list(shapes.values())[:_SHAPES]))


def list_parts(value: object, is_sample: bool = False) -> list[Part]:
    """The tensors and arrays in a batch; of a sample also lists of numbers, and texts."""
    budget = objects.Budget(_VALUES)
    return list(_walk("", value, is_sample, _DEPTH, budget, set()))


def count_elements(shape: tuple[int, ...]) -> int:
    """The product of the dimensions."""
    product = 1
    for side in shape:
        product *= side
    return product


def _write(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


def _walk(name: str, value: object, is_sample: bool, depth: int, budget: objects.Budget, seen: set[int]) -> Iterator[Part]:
    if not budget.has() or depth < 0 or id(value) in seen:
        return
    if objects.is_a(value, torch.Tensor):
        seen.add(id(value))
        yield Part(name, tuple(value.shape), value.element_size())
        return
    shape = None if objects.is_a(value, _PLAIN) else objects.read(type(value), "shape")
    if shape is not None or is_sample:
        found = _read_array(value) if shape is not None else _read_plain(value)
        if found is not None:
            yield Part(name, *found, is_text=objects.is_a(value, (str, bytes)))
            return
    if objects.is_a(value, _PLAIN):
        return
    seen.add(id(value))
    for key, each in _list_named(value):
        yield from _walk(key if type(key) is str else name, each, is_sample, depth - 1, budget, seen)


def _read_array(value: object) -> tuple[tuple[int, ...], int] | None:
    """An array of NumPy's or of a like library."""
    shape, width = getattr(value, "shape", None), getattr(value, "itemsize", None)
    is_array = type(shape) is tuple and type(width) is int and all(type(side) is int for side in shape)
    return (shape, width) if is_array else None


def _read_plain(value: object) -> tuple[tuple[int, ...], int] | None:
    """A number, a text, or a list of numbers, also of lists of numbers."""
    if objects.is_a(value, (str, bytes)):
        return (len(value),), 1
    if objects.is_a(value, (int, float)):
        return (), _NUMBER
    if type(value) not in (list, tuple) or not value:
        return None
    first = value[0]
    if type(first) in (int, float, bool):
        return (len(value),), _NUMBER
    is_table = type(first) in (list, tuple) and first and type(first[0]) in (int, float, bool)
    if is_table and all(type(row) in (list, tuple) for row in value):
        return (len(value), max(map(len, value))), _NUMBER
    return None


def _list_named(value: object) -> Iterator[tuple[object, object]]:
    """The values in a container, or in an object such as a `Batch` of PyG or a `BatchEncoding`."""
    if objects.is_a(value, dict):
        return iter(dict.items(value))
    if objects.is_a(value, (list, tuple)):
        return ((None, each) for each in objects.list_items(value, _VALUES))
    return iter(list(objects.list_own(value).items()))
