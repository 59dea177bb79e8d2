"""Lengths of samples from where they stand: a column of a table, or a list that a sampler or a dataset has."""

import sys
from collections.abc import Sequence

import torch
from torch.utils.data import ConcatDataset, Subset

from ...process import objects

# The samples in a list of lengths, and the datasets and samplers around one.
_SAMPLES, _WRAPPERS = 5_000_000, 8
_COLUMNS = ("length", "lengths", "input_ids")


def find_lengths(dataset: object, sampler: object) -> Sequence[int] | None:
    """The length of each sample; `None` if only the samples tell."""
    rows = _count(dataset)
    if rows is None or rows > _SAMPLES:
        return None
    return _of_sampler(sampler, rows) or _of_dataset(dataset, rows, _WRAPPERS)


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


def _of_dataset(dataset: object, rows: int, depth: int) -> Sequence[int] | None:
    if depth == 0:
        return None
    if type(dataset) is Subset:
        inner = _of_dataset(dataset.dataset, len(dataset.dataset), depth - 1)
        return None if inner is None else [inner[int(index)] for index in dataset.indices]
    if type(dataset) is ConcatDataset:
        parts = [_of_dataset(each, len(each), depth - 1) for each in dataset.datasets]
        return None if any(part is None for part in parts) else [length for part in parts for length in part]
    library = sys.modules.get("datasets")
    if library is not None and objects.is_a(dataset, library.Dataset):
        return _of_table(dataset)
    return _read_list(objects.read(dataset, "lengths"), rows)


def _of_table(dataset: object) -> list[int] | None:
    """The lengths in a set of Hugging Face datasets, from Arrow's offsets: no row is read (datasets 2.14 to 5.2)."""
    if dataset.format["type"] == "custom":
        # A function of the program's makes the samples.
        return None
    name = next((it for it in _COLUMNS if it in dataset.column_names), None)
    if name is None:
        return None
    import pyarrow.compute

    column = dataset.data.column(name)
    values = column if name != "input_ids" else pyarrow.compute.list_value_length(column)
    found = values.to_pylist()
    if dataset._indices is not None:
        found = [found[row] for row in dataset._indices.column(0).to_pylist()]
    return found if all(type(it) is int for it in found) else None


def _read_list(found: object, rows: int) -> Sequence[int] | None:
    if objects.is_a(found, torch.Tensor):
        found = found.tolist() if found.ndim == 1 and not found.is_cuda else None
    elif type(found).__module__ == "numpy" and hasattr(found, "tolist"):
        found = found.tolist()
    is_list = type(found) in (list, tuple) and len(found) == rows and all(type(it) is int for it in found)
    return found if is_list else None
