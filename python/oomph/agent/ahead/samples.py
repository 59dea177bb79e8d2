"""Tests that all batches of a loader have the same shapes: by the type of the dataset, or by some of its samples.

The samples are read when the program is about to be stopped: changes of counters and of random generators are lost with the program.
"""

import time
import weakref

import torch
from torch.utils.data import DataLoader, IterableDataset, Subset, TensorDataset, default_collate

_SAMPLES = 32
# A dataset that reads large files is not read at length.
_SECONDS = 0.5


_known: weakref.WeakKeyDictionary[DataLoader, bool] = weakref.WeakKeyDictionary()


def are_alike(loader: DataLoader) -> bool:
    """True if the batches of a loader differ in no shape, but for a last one that is smaller. Samples are read once."""
    if loader not in _known:
        _known[loader] = _decide(loader)
    return _known[loader]


def _decide(loader: DataLoader) -> bool:
    dataset = loader.dataset
    while isinstance(dataset, Subset):
        dataset = dataset.dataset
    if loader.collate_fn is not default_collate or isinstance(dataset, IterableDataset):
        return False
    if isinstance(dataset, TensorDataset):
        return True
    return _have_one_shape(loader.dataset)


def _have_one_shape(dataset: object) -> bool:
    try:
        size = len(dataset)
        end = time.monotonic() + _SECONDS
        shapes = set()
        for number in range(min(size, _SAMPLES)):
            shapes.add(_shape(dataset[number * size // min(size, _SAMPLES)]))
            if len(shapes) > 1 or time.monotonic() > end:
                break
    # The dataset is code of the program's, and may raise any error: then nothing is known.
    except Exception:
        return False
    return len(shapes) == 1 and None not in shapes


def _shape(sample: object) -> object:
    """The shapes in a sample; `None` if the sample has a part without a known shape."""
    if isinstance(sample, torch.Tensor):
        return tuple(sample.shape)
    # A text is no number: its length decides the size of the tensor made of it.
    if isinstance(sample, (int, float, bool)):
        return type(sample).__name__
    if isinstance(sample, dict):
        return _shape(tuple(sample.values()))
    if isinstance(sample, (tuple, list)):
        parts = tuple(_shape(part) for part in sample)
        return None if None in parts else parts
    shape = getattr(sample, "shape", None)
    return tuple(shape) if isinstance(shape, tuple) else None
