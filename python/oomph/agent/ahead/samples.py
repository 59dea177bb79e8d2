"""Tests that all batches of a loader have the same shapes: by the type of the dataset, or by some of its samples.

The samples are read when the program is about to be stopped: changes of counters and of random generators are lost with the program. The
dataset's own functions run for a limited number of lines.
"""

import sys
import weakref
from collections.abc import Callable
from types import FrameType

import torch
from torch.utils.data import DataLoader, IterableDataset, Subset, TensorDataset, default_collate

from ..process import objects
from ..source.scope import Scope

_SAMPLES = 32
# The lines of Python that all samples may take, or a length. A transformed picture takes some thousand.
_LINES = 1_000_000
# The datasets around a dataset, the depth of a sample, and its elements.
_WRAPPERS = 64
_DEPTH = 8
_ELEMENTS = 10_000


_known: weakref.WeakKeyDictionary[DataLoader, bool] = weakref.WeakKeyDictionary()


class _Unending(BaseException):
    """A function of the program's has run for too many lines. No `except Exception` of the program's catches it."""


class LoaderScope(Scope):
    """A scope that knows the lengths of loaders."""

    def length(self, value: object) -> object:
        """The length of a loader, or of a container of Python's."""
        batches = count_batches(value) if objects.is_a(value, DataLoader) else None
        return super().length(value) if batches is None else batches


def are_alike(loader: DataLoader) -> bool:
    """True if the batches of a loader differ in no shape, but for a last one that is smaller. Samples are read once."""
    if loader not in _known:
        _known[loader] = _decide(loader)
    return _known[loader]


def count_batches(loader: DataLoader) -> int | None:
    """The length of a loader, which asks the program's dataset or sampler for its own; `None` if unknown."""
    found: list[int] = []
    _run(lambda: found.append(len(loader)))
    return found[0] if found else None


def _decide(loader: DataLoader) -> bool:
    dataset, wrappers = loader.dataset, 0
    while objects.is_a(dataset, Subset) and wrappers < _WRAPPERS:
        dataset, wrappers = dataset.dataset, wrappers + 1
    if loader.collate_fn is not default_collate or objects.is_a(dataset, (IterableDataset, Subset)):
        return False
    if objects.is_a(dataset, TensorDataset):
        return True
    return _have_one_shape(loader.dataset)


def _have_one_shape(dataset: object) -> bool:
    shapes: set[object] = set()

    def read_shapes() -> None:
        size = len(dataset)
        for number in range(min(size, _SAMPLES)):
            shapes.add(_shape(dataset[number * size // min(size, _SAMPLES)], _DEPTH))
            if len(shapes) > 1:
                break

    # Samples that take too many lines are judged by those that were read.
    is_sound = _run(read_shapes)
    return is_sound and len(shapes) == 1 and None not in shapes


def _run(function: Callable[[], object]) -> bool:
    """Runs code of the program's for a number of lines; False if it raised an error. Native code is not counted."""
    outer, left = sys.gettrace(), _LINES

    def count(_frame: FrameType, _event: str, _value: object) -> Callable:
        nonlocal left
        left -= 1
        if left < 0:
            raise _Unending
        return count

    sys.settrace(count)
    try:
        function()
    except _Unending:
        return True
    # The program's code may raise any error: then nothing is known.
    except Exception:
        return False
    finally:
        sys.settrace(outer)
    return True


def _shape(sample: object, depth: int) -> object:
    """The shapes in a sample; `None` if the sample has a part without a known shape."""
    if objects.is_a(sample, torch.Tensor):
        return tuple(sample.shape)
    # A text is no number: its length decides the size of the tensor made of it.
    if objects.is_a(sample, (int, float, bool)):
        return type(sample).__name__
    if objects.is_a(sample, (dict, tuple, list)):
        items = objects.list_items(sample, _ELEMENTS)
        parts = tuple(_shape(part, depth - 1) for part in items) if depth else (None,)
        return None if None in parts else parts
    shape = getattr(sample, "shape", None)
    return tuple(shape) if isinstance(shape, tuple) else None
