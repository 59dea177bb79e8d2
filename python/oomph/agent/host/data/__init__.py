"""Data that is not on this machine.

Note [Made-up data]
~~~~~~~~~~~~~~~~~~~
With `--fake-data` the well-known data sets of torchvision and of datasets are made up where they are absent: their splits, lengths, features,
classes and sizes of pictures are the documented ones (`picture_sets`, `row_sets`), and their values mean nothing. A set on the disk is always
used: the library looks for it first, without a network. A set that is in neither table is an error that names the known ones.

- A set of torchvision stays an instance of its own class, whose code makes the items: its attributes name a few small picture files in the
  run's folder, or arrays of zeros that no memory backs until they are written.
- A set of datasets is a real `Dataset` or `IterableDataset` over some hundred rows that repeat; the repetitions share their memory.

Without `--fake-data` absent data is an error of the library's, which here names the set and comes at once: `network` finds out whether the
hub can be reached before the library begins its retries.
"""

import importlib
import os
from collections.abc import Callable

from ... import phantom, wire
from ...process.importing import after_import

# By the library's module: the module here that changes it.
_LIBRARIES = {"torchvision.datasets": "pictures", "datasets.load": "builders"}


def wait() -> None:
    """Changes each module of the libraries when the program imports it; at once if it is imported already."""
    for library, part in _LIBRARIES.items():
        after_import(library, _changing(part))


def is_made_up() -> bool:
    """True if absent data is made up. Read at each call: the children of a fork server differ."""
    return os.environ.get(wire.FAKE_DATA) == "1" and phantom.find() is not None


def _changing(part: str) -> Callable[[], None]:
    return lambda: importlib.import_module(f".{part}", __name__).change()
