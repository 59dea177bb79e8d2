"""What a dry run did without: one row for each checkpoint, tokenizer or data set that was not there.

See Note [Missing weights].
"""

import os
from dataclasses import dataclass

from ... import records

# What was missing.
WEIGHTS, TOKENIZER, DATA = "weights", "tokenizer", "data"
# Where the stand-in comes from.
HEADERS, CONFIGURATION, MODEL, SHAPES = "headers", "configuration", "model", "shapes"


@dataclass
class _Row:
    tensors: int = 0
    bytes: int = 0
    fetched_bytes: int = 0


# By what was missing, its name, and the source of the stand-in.
_rows: dict[tuple[str, str, str], _Row] = {}


def note(what: str, name: str, source: str, *, tensors: int = 0, bytes: int = 0, fetched_bytes: int = 0) -> None:
    """Adds to the row of a missing thing: a checkpoint of several files is one row. `bytes` were not fetched, `fetched_bytes` were."""
    row = _rows.setdefault((what, name, source), _Row())
    row.tensors += tensors
    row.bytes += bytes
    row.fetched_bytes += fetched_bytes


def reset() -> None:
    """Forgets all rows: the parent of a forked child records them."""
    _rows.clear()


def list_records() -> list[dict]:
    """The record of each row, in order of the first note."""
    return [
        records.stand_in(what=what, name=name, source=source, tensors=row.tensors, bytes=row.bytes, fetched_bytes=row.fetched_bytes)
        for (what, name, source), row in _rows.items()
    ]


os.register_at_fork(after_in_child=reset)
