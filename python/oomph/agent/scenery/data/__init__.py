"""Data that is not on this machine.

Note [Made-up data]
~~~~~~~~~~~~~~~~~~~
With `--fake-data` the absent well-known data sets of torchvision and of datasets are made up: splits, lengths, features, classes and sizes of
pictures are the documented ones (`picture_sets`, `row_sets`), and the values mean nothing. A set on the disk is always used: the library
searches the disk first, without a network. A set in neither table is an error with the names of the known sets.

- A set of torchvision stays an instance of its class, and the code of the class makes the items: the attributes name a few small picture files
  in the run's folder, or arrays of zeros without memory.
- A set of datasets is a real `Dataset` or `IterableDataset` over some hundred rows; the repetitions of the rows share memory.

Without `--fake-data` absent data is an error of the library with the name of the set, raised at once: `network` checks the way to the hub
before the library begins to retry.
"""

import importlib
import os
from collections.abc import Callable

from ... import phantom, wire
from ...hooks.importing import after_import

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
