"""The objects that refer to others, in one pass over the objects of the process."""

import gc
from collections.abc import Iterator

# `gc.get_referrers` compares each reference of the process with each object that was asked for (Modules/gcmodule.c): with more it takes minutes.
_FEW = 64


def list_referrers(wanted: dict[int, object]) -> Iterator[object]:
    """The objects with a reference to an object of `wanted`, which is by id; `wanted` itself is left out."""
    if len(wanted) <= _FEW:
        yield from (it for it in gc.get_referrers(*wanted.values()) if it is not wanted)
        return
    is_apart = wanted.keys().isdisjoint
    for holder in gc.get_objects():
        if holder is not wanted and not is_apart(map(id, gc.get_referents(holder))):
            yield holder
