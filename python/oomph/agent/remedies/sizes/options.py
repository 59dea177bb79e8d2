"""Options of the command line that are named like the size."""

from collections.abc import Iterable

from .. import parsers
from . import Scaling


def install(scaling: Scaling) -> None:
    """Inspects the options of every parser, right after parsing."""
    parsers.watch(lambda options: _meet(scaling, options))


def _meet(scaling: Scaling, options: Iterable[parsers.Option]) -> None:
    """Tells of the options that are named like the size; of several, the likeliest is meant."""
    likely = []
    for option in options:
        size = _number(option.value)
        named = next((name for name in option.names if scaling.is_named(name)), None)
        ranks = [(rank, name) for name in option.names if (rank := scaling.rank(name)) is not None]
        if size is not None and named is not None:
            likely.append((-1, named, size, option))
        elif size is not None and ranks:
            rank = min(rank for rank, _ in ranks)
            # The long spelling says more.
            likely.append((rank, max((name for _, name in ranks), key=len), size, option))
    least = min((one[0] for one in likely), default=None)
    for rank, name, size, option in likely:
        new = scaling.meet("option", name, size, is_training=rank == least)
        if new != size:
            option.change(type(option.value)(new))


def _number(value) -> int | None:
    """The option's size; some programs keep the text and make it a number later."""
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
