"""Makes up the data sets that `datasets.load_dataset` does not find. See Note [Made-up data]."""

import contextlib
import os
import sys
from collections.abc import Iterator

from ... import phantom
from ...hooks import put
from ...hooks.replacing import find_value
from .. import network
from ..weights import ledger
from . import is_made_up, row_sets, rows

# The library's name of the only configuration of a set.
_DEFAULT = "default"
_SWITCH = "datasets.config:HF_HUB_OFFLINE"


def _check_or_make(call, path, name=None, *args, **kwargs):
    """Checks the network before every load, and makes up sets: `load_dataset` makes a builder first (datasets 2.14 to 5.2)."""
    if phantom.find() is None or _is_local(path, kwargs):
        return call(path, name, *args, **kwargs)
    if is_made_up():
        return _find_or_make(call, path, name, *args, **kwargs)
    with contextlib.nullcontext() if network.can_reach_hub() else _offline():
        return call(path, name, *args, **kwargs)


def _is_local(path: object, arguments: dict) -> bool:
    """True for a folder, and for a format such as `csv` with files."""
    packaged = sys.modules["datasets.load"]._PACKAGED_DATASETS_MODULES
    return arguments.get("data_files") is not None or os.path.exists(str(path)) or str(path) in packaged


def _find_or_make(original, path: str, name: str | None, *args, **kwargs):
    """The builder of a set in the cache, else of a made-up set."""
    with _offline():
        try:
            return original(path, name, *args, **kwargs)
        except (OSError, ValueError):
            found = row_sets.find(path)
    if found is None:
        kind = sys.modules["datasets.exceptions"].DatasetNotFoundError
        raise kind(f"--fake-data makes up no data set '{path}', which is not on this machine; it knows {', '.join(row_sets.list_names())}")
    wanted = name or _DEFAULT
    if wanted not in found and len(found) > 1:
        raise ValueError(f"--fake-data makes up no configuration '{wanted}' of the data set '{path}'; it knows {', '.join(found)}")
    shape = found[wanted] if wanted in found else next(iter(found.values()))
    ledger.note(ledger.DATA, path if name is None else f"{path} ({name})", ledger.SHAPES)
    return MadeBuilder(path, wanted, shape)


@contextlib.contextmanager
def _offline() -> Iterator[None]:
    """Restricts the library to its cache."""
    before = find_value(_SWITCH)
    put(_SWITCH, True)
    try:
        yield
    finally:
        put(_SWITCH, before)


class MadeBuilder:
    """The part of `DatasetBuilder` that `load_dataset` uses."""

    def __init__(self, path: str, name: str, shape: row_sets.Shape) -> None:
        self._shape = shape
        self._path = path
        self.dataset_name = path.rsplit("/", maxsplit=1)[-1]
        self.info = rows.describe(self.dataset_name, name, shape)

    def download_and_prepare(self, *_args, **_kwargs) -> None:
        """Nothing is fetched."""

    def as_dataset(self, split=None, *_args, **_kwargs):
        """The splits, or the wanted ones, as `DatasetBuilder.as_dataset`."""
        made = sys.modules["datasets"].DatasetDict
        return self._choose(split, made, lambda name: rows.make(self._path, name, self._shape, self.info))

    def as_streaming_dataset(self, split=None, *_args, **_kwargs):
        """The same, as streams."""
        made = sys.modules["datasets"].IterableDatasetDict
        return self._choose(split, made, lambda name: rows.make(self._path, name, self._shape, self.info).to_iterable_dataset())

    def _choose(self, split, all_of, make):
        if split is None:
            return all_of({name: make(name) for name in self._shape.splits})
        if isinstance(split, (list, tuple)):
            return [make(str(name)) for name in split]
        return make(str(split))


LAYERS = {"datasets.load:load_dataset_builder": _check_or_make}
