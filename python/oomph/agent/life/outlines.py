"""The size of an item, and the numbers in it: how they go on from item to item."""

import torch

from ..process import objects

# The depth of an item, and the elements of each part, that are measured.
_DEPTH, _ELEMENTS = 4, 1_000
# The depth and the width of the tuples in an item in which numbers are followed.
_OUTLINE_DEPTH, _OUTLINE_WIDTH = 2, 8


def measure(item: object, depth: int = _DEPTH) -> int:
    """The bytes of the tensors in an item, and the elements of texts and of lists of numbers."""
    if objects.is_a(item, torch.Tensor):
        return item.numel() * item.element_size()
    if type(item) in (str, bytes):
        return len(item)
    if type(item) in (int, float, bool, type(None)):
        return 1
    if not depth or not objects.is_a(item, (dict, list, tuple)):
        return 0
    return sum(measure(it, depth - 1) for it in objects.list_items(item, _ELEMENTS))


def outline(item: object, depth: int = _OUTLINE_DEPTH) -> object:
    """The numbers in an item, as in `(7, batch)`, with `None` in place of the batch."""
    if type(item) is int:
        return item
    is_short = type(item) is tuple and len(item) <= _OUTLINE_WIDTH
    return tuple(outline(it, depth - 1) for it in item) if depth and is_short else None


def extrapolate(first: object, before: object, last: object, passes: int) -> object:
    """The outline some passes after the last: numbers that rose evenly rise on."""
    if type(first) is int and type(before) is int and type(last) is int:
        return last + (last - before) * passes if last - before == before - first else None
    if type(before) is tuple and type(last) is tuple and type(first) is tuple and len(first) == len(before) == len(last):
        return tuple(extrapolate(*each, passes) for each in zip(first, before, last))
    return None


def has_number(outline: object) -> bool:
    """True if an outline has a number."""
    return type(outline) is int or (type(outline) is tuple and any(map(has_number, outline)))


def agrees(expected: object, found: object) -> bool:
    """True unless a number is not as expected."""
    if type(expected) is tuple and type(found) is tuple:
        return all(map(agrees, expected, found))
    return expected is None or found is None or expected == found
