"""The most tokens of a text, as a tokenizer or a dataset says."""

import functools
import types
from collections.abc import Iterator

from ...process import objects

# Tokenizers without a bound have one of 10 to the power of 30.
_UNBOUNDED = 10_000_000
_NAMES = ("max_length", "max_len", "max_seq_length", "max_seq_len", "max_source_length", "block_size", "context_length")
_VALUES, _DEPTH = 2_000, 3


def find_allowed(dataset: object, collate: object) -> str:
    """The bound in words; empty without one."""
    budget = objects.Budget(_VALUES)
    found = [*_walk(collate, _DEPTH, budget), *_walk(dataset, _DEPTH, budget)]
    tokens = _find(found, ("model_max_length",))
    if tokens is not None:
        return f"the tokenizer allows {tokens:,} tokens"
    tokens = _find(found, _NAMES)
    return "" if tokens is None else f"the data set allows {tokens:,} tokens"


def _find(values: list[object], names: tuple[str, ...]) -> int | None:
    found = (objects.read(value, name) for value in values for name in names)
    return next((it for it in found if type(it) is int and 0 < it < _UNBOUNDED), None)


def _walk(value: object, depth: int, budget: objects.Budget) -> Iterator[object]:
    if depth < 0 or not budget.has() or objects.is_a(value, (str, bytes, int, float, type, types.ModuleType)):
        return
    yield value
    for each in _list_inside(value):
        yield from _walk(each, depth - 1, budget)


def _list_inside(value: object) -> Iterator[object]:
    """The values that a function uses, or that an object has."""
    if type(value) is types.MethodType:
        yield value.__self__
    elif type(value) is types.FunctionType:
        yield from (cell.cell_contents for cell in value.__closure__ or () if _is_set(cell))
        yield from (value.__globals__[name] for name in value.__code__.co_names if name in value.__globals__)
    elif type(value) is functools.partial:
        yield from (value.func, *value.args, *value.keywords.values())
    else:
        yield from list(objects.list_own(value).values())


def _is_set(cell: types.CellType) -> bool:
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True
