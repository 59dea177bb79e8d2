"""Files of the program that are read from other places: configuration files with another value.

`OOMPH_OVERLAY` is a JSON object `{PATH: OTHER}` of absolute paths. Python's `open` opens the other file in place of the first, for reading.
The first is opened too: its content decides the result, and the notes of the files that a run reads must have it.
"""

import json
import os
from collections.abc import Callable

from .. import wire
from ..hooks import around


def install() -> None:
    """Stands around `open`, where files are to be read from other places."""
    others: dict[str, str] = json.loads(os.environ.get(wire.OVERLAY) or "{}")
    if others:
        around("builtins:open", _layer(others))


def _layer(others: dict[str, str]) -> Callable:
    def layer(call, file, mode="r", *args, **kwargs):
        other = None if isinstance(file, int) or set(mode) & set("wax+") else others.get(os.path.abspath(os.fsdecode(file)))
        if other is None:
            return call(file, mode, *args, **kwargs)
        os.close(os.open(file, os.O_RDONLY))
        return call(other, mode, *args, **kwargs)

    return layer
