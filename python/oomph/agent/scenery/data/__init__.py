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

import os

from ... import phantom, wire


def is_made_up() -> bool:
    """True if absent data is made up. Read at each call: the children of a fork server differ."""
    return os.environ.get(wire.FAKE_DATA) == "1" and phantom.find() is not None
