"""Lengths of samples without reading the samples: from a column of a table, a list of lengths, or a list of texts.

The lengths may belong to something else than the tensors, such as letters to tokens: the caller compares them with batches.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.utils.data import ConcatDataset, Dataset, Subset

from ...process import objects

# The samples in a list of lengths, and the datasets and samplers around one.
_SAMPLES, _WRAPPERS = 5_000_000, 8
_COLUMNS = ("length", "lengths", "input_ids", "text")


@dataclass(frozen=True)
class Lengths:
    """The length of each sample."""

    values: Sequence[int]
    # True for letters in place of tokens.
    are_letters: bool = False


def find_lengths(dataset: object, sampler: object) -> Lengths | None:
    """The length of each sample; `None` without a list of them."""
    rows = _count(dataset)
    if rows is None or rows > _SAMPLES:
        return None
    found = _of_sampler(sampler, rows)
    return Lengths(found) if found is not None else _of_dataset(dataset, rows, _WRAPPERS)


def _count(dataset: object) -> int | None:
    found = len(dataset)
    return found if type(found) is int and found > 0 else None


def _of_sampler(sampler: object, rows: int) -> Sequence[int] | None:
    """Samplers that group samples by length hold the lengths (`LengthGroupedSampler` of transformers)."""
    for _ in range(_WRAPPERS):
        found = _read_list(objects.read(sampler, "lengths"), rows)
        if found is not None or sampler is None:
            return found
        sampler = objects.read(sampler, "batch_sampler") or objects.read(sampler, "sampler")
    return None


def _of_dataset(dataset: object, rows: int, depth: int) -> Lengths | None:
    if depth == 0:
        return None
    if type(dataset) is Subset:
        inner = _of_dataset(dataset.dataset, len(dataset.dataset), depth - 1)
        return None if inner is None else Lengths([inner.values[int(index)] for index in dataset.indices], inner.are_letters)
    if type(dataset) is ConcatDataset:
        parts = [_of_dataset(each, len(each), depth - 1) for each in dataset.datasets]
        if any(part is None for part in parts):
            return None
        return Lengths([length for part in parts for length in part.values], any(part.are_letters for part in parts))
    library = sys.modules.get("datasets")
    if library is not None and objects.is_a(dataset, library.Dataset):
        return _of_table(dataset)
    found = _read_list(objects.read(dataset, "lengths"), rows)
    return Lengths(found) if found is not None else _of_attributes(dataset, rows, depth - 1)


def _of_attributes(dataset: object, rows: int, depth: int) -> Lengths | None:
    """The lengths of the texts or rows of numbers that a dataset holds in a list, or in another dataset."""
    library = sys.modules.get("datasets")
    for value in list(objects.list_own(dataset).values()):
        is_table = library is not None and objects.is_a(value, library.Dataset)
        if (is_table or objects.is_a(value, Dataset)) and len(value) == rows:
            return _of_dataset(value, rows, depth)
        if type(value) in (list, tuple) and len(value) == rows and type(value[0]) in (str, list) and all(type(it) in (str, list) for it in value):
            return Lengths(list(map(len, value)), type(value[0]) is str)
    return None


def _of_table(dataset: object) -> Lengths | None:
    """The lengths in a set of Hugging Face datasets, from Arrow's offsets: no row is read (datasets 2.14 to 5.2)."""
    name = next((it for it in _COLUMNS if it in dataset.column_names), None)
    if name is None:
        return None
    import pyarrow.compute

    column = dataset.data.column(name)
    count = {"input_ids": pyarrow.compute.list_value_length, "text": pyarrow.compute.utf8_length}.get(name)
    found = (column if count is None else count(column)).to_pylist()
    if dataset._indices is not None:
        found = [found[row] for row in dataset._indices.column(0).to_pylist()]
    return Lengths(found, name == "text") if all(type(it) is int for it in found) else None


def _read_list(found: object, rows: int) -> Sequence[int] | None:
    if objects.is_a(found, torch.Tensor):
        found = found.tolist() if found.ndim == 1 and not found.is_cuda else None
    elif type(found).__module__ == "numpy" and hasattr(found, "tolist"):
        found = found.tolist()
    is_list = type(found) in (list, tuple) and len(found) == rows and all(type(it) is int for it in found)
    return found if is_list else None
