"""The functions that a changed source calls (`rewriting`). Nothing here imports PyTorch before the program does."""

import itertools
import sys
from collections.abc import Callable, Iterable

# What runs the loops (`passes.Control`), once PyTorch is imported.
_control: object | None = None
_opener: Callable[[object], object] | None = None
_is_compiling: Callable[[], bool] = lambda: False
# The branches that ran.
ran: set[int] = set()


def start(control: object, opener: Callable[[object], object], is_compiling: Callable[[], bool]) -> None:
    """Begins to shorten loops."""
    global _control, _opener, _is_compiling
    _control, _opener, _is_compiling = control, opener, is_compiling


def loop(items: object, number: int) -> object:
    """The items of a `for`."""
    if _is_compiling() or _control is None or not _control.applies():
        return enumerate(items.iterable, items.start) if type(items) is Enumerate else items
    run = _control.begin(number, items, sys._getframe(1))
    return itertools.chain.from_iterable(_control.run_all(run))


def begin_pass(number: int, *values: object) -> tuple:
    """The counters of a `for`, at the begin of a pass."""
    run = None if _is_compiling() or _control is None else _control.find(number, sys._getframe(1))
    return values if run is None else tuple(run.begin(values))


def enter(number: int) -> None:
    """A `while` is about to begin."""
    if not _is_compiling() and _control is not None and _control.applies():
        _control.begin(number, None, sys._getframe(1))


def goes_on(number: int, *values: object) -> bool:
    """False if a `while` ends, whatever its condition says."""
    frame = sys._getframe(1)
    run = None if _is_compiling() or _control is None else _control.find(number, frame)
    if run is None:
        _unmanaged[number] = values
        return True
    if not _control.go_on(run, frame):
        _unmanaged[number] = values
        return False
    run.begin(values)
    return True


def value_of(number: int, index: int) -> object:
    """The counter of a `while`, at the begin of a pass."""
    run = None if _is_compiling() or _control is None else _control.find(number, sys._getframe(1))
    return _unmanaged[number][index] if run is None else run.new_values[index]


# The counters of a `while` that nobody watches: the values that it has.
_unmanaged: dict[int, tuple] = {}


def take_next(iterator: object, *default: object) -> object:
    """`next`, of an iterator that a loop reads by itself."""
    if _is_compiling() or _control is None or not _control.applies():
        return next(iterator, *default)
    try:
        return _control.take_next(iterator)
    except StopIteration:
        if default:
            return default[0]
        raise


def note_branch(number: int) -> None:
    """A branch of a condition runs."""
    if not _is_compiling():
        ran.add(number)
        if _control is not None and _control.applies():
            _control.stages.begin_branch(number)


class Enumerate:
    """`enumerate`, which counts the items that a loader inside jumps over."""

    def __init__(self, iterable: Iterable, start: int = 0) -> None:
        self.iterable = iterable
        self.start = start
        self._items: object | None = None

    def __iter__(self) -> "Enumerate":
        """Itself, as every iterator."""
        return self

    def __next__(self) -> tuple[int, object]:
        """The next number and item."""
        if _control is None:
            self._items = self._items or enumerate(self.iterable, self.start)
            return next(self._items)
        if self._items is None:
            self._items = _opener(self.iterable)
        if type(self._items) is enumerate:
            return next(self._items)
        loader = self._items.loader
        taken = self._items.taken
        item = self._items.take()
        if loader is not None:
            self._items.taken = max(self._items.taken, loader.position)
            taken = self._items.taken - 1
        return self.start + taken, item
