"""Replaces functions by the table alone: the module with the layers is imported with the first call of one of them.

A module of the scenery has `LAYERS`, a layer by name, for each of its rows in the table; and `VALUES`, by name a function that makes the
new value of the old one right after the import, for each row of a value.
"""

import functools
import importlib
from collections.abc import Callable

from .. import phantom
from ..failure import guarded, tell
from ..hooks import after_import, around, put
from ..hooks.replacing import Layer, find_value
from ..hooks.table import ROWS, Row

# The parts whose names wait already.
_waiting: set[str] = set()


def wait_early() -> None:
    """Waits for the libraries that programs often import before torch, and from which names are imported; over a phantom GPU only."""
    if phantom.find() is not None:
        wait_for("outside", "weights.hub", "weights.network", "fetches")


@guarded
def wait_for(*parts: str) -> None:
    """Replaces the names of parts, and of the parts below these, once; the layers of an earlier call are inside."""
    wanted = {part for row in ROWS.values() for part in row.parts if any(f"{part}.".startswith(f"scenery.{each}.") for each in parts)} - _waiting
    _waiting.update(wanted)
    for row in ROWS.values():
        for part in wanted.intersection(row.parts):
            if row.is_lent:
                continue
            if row.is_value:
                after_import(row.module, functools.partial(_put_made, part, row))
            else:
                around(row.name, _delay(part, row.name))


def _delay(part: str, name: str) -> Layer:
    def layer(call, *args, **kwargs):
        return _find(part, name)(call, *args, **kwargs)

    return layer


@functools.cache
def _find(part: str, name: str) -> Layer:
    try:
        return import_part(part).LAYERS[name]
    except Exception as error:
        tell(f"the layer of {name}", error)
        return lambda call, *args, **kwargs: call(*args, **kwargs)


def _put_made(part: str, row: Row) -> None:
    make: Callable[[object], object] = import_part(part).VALUES[row.name]
    found = find_value(row.name)
    if found is not None:
        put(row.name, make(found))


def import_part(part: str):
    """The module of a part of the scenery."""
    return importlib.import_module(part.removeprefix("scenery"), __package__)
