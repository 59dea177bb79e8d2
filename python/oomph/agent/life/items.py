"""The items of a loop, and the ways to jump over some of them."""

import itertools
import time
from collections.abc import Iterable, Iterator

from ..process import objects
from . import loaders
from .calls import Enumerate

# The seconds of processor time for items that are made and not used.
_SECONDS = 2.0


class Items:
    """The items of any iterable: a jump makes the items in between, unless a loader makes them and can jump itself."""

    def __init__(self, iterable: Iterable) -> None:
        opened = len(loaders.opened)
        self._iterator = iter(iterable)
        self.taken = 0
        self.total = _length(iterable)
        # The loaders that were opened before the loop.
        self._opened_before = opened

    def take(self) -> object:
        """The next item. Raises `StopIteration`."""
        self.taken += 1
        return next(self._iterator)

    def value(self, position: int) -> object:
        """A number or text that the loop is known to have at a position; `None` for others."""
        return None

    @property
    def loader(self) -> "loaders.LoaderPasses | None":
        """The loader that makes the items: the first that was opened for the loop."""
        own = loaders.opened[self._opened_before :]
        return own[0] if own else None

    def jump(self, position: int) -> bool:
        """Makes the item at `position` the next one; False if items are missing."""
        loader, left = self.loader, position - self.taken
        if loader is not None:
            if not loader.jump(loader.position + left):
                return False
            self.taken = position
            return True
        return self._skip(position)

    def _skip(self, position: int) -> bool:
        start = time.process_time()
        while self.taken < position and time.process_time() - start < _SECONDS:
            try:
                next(self._iterator)
            except StopIteration:
                return False
            self.taken += 1
        return self.taken == position

    def rest(self) -> Iterator:
        """The items that are left, for a loop that is left alone."""
        return self._iterator


class Indexed(Items):
    """The items of a range, a list or a tuple."""

    def __init__(self, values: range | list | tuple) -> None:
        self._values = values
        self.taken = 0

    @property
    def total(self) -> int:
        """A loop may append to its own list."""
        return len(self._values)

    @property
    def loader(self) -> None:
        """None."""
        return None

    def take(self) -> object:
        """The next item. Raises `StopIteration`."""
        if self.taken >= len(self._values):
            raise StopIteration
        self.taken += 1
        return self._values[self.taken - 1]

    def value(self, position: int) -> object:
        """The item at a position."""
        return self._values[position] if position < len(self._values) else None

    def jump(self, position: int) -> bool:
        """Makes the item at `position` the next one."""
        self.taken = position
        return position < len(self._values)

    def rest(self) -> Iterator:
        """The items that are left."""
        if type(self._values) is range:
            return iter(self._values[self.taken :])
        iterator = iter(self._values)
        iterator.__setstate__(self.taken)
        return iterator


class Numbered(Items):
    """The items of an `enumerate`."""

    def __init__(self, inner: Items, start: int) -> None:
        self._inner = inner
        self._start = start

    taken = property(lambda self: self._inner.taken)
    total = property(lambda self: self._inner.total)
    loader = property(lambda self: self._inner.loader)

    def take(self) -> object:
        """The next number and item. Raises `StopIteration`."""
        number = self._inner.taken + self._start
        return number, self._inner.take()

    def value(self, position: int) -> object:
        """The number, and the item if it is known."""
        return self._start + position, self._inner.value(position)

    def jump(self, position: int) -> bool:
        """Makes the item at `position` the next one."""
        return self._inner.jump(position)

    def rest(self) -> Iterator:
        """The items that are left."""
        start = self._start + self._inner.taken
        return enumerate(self._inner.rest(), start)


class Bar(Items):
    """The items of a progress bar of tqdm's, which counts those that are jumped over."""

    def __init__(self, bar: object, inner: Items) -> None:
        self._bar = bar
        self._inner = inner

    taken = property(lambda self: self._inner.taken)
    total = property(lambda self: self._inner.total)
    loader = property(lambda self: self._inner.loader)

    def take(self) -> object:
        """The next item. Raises `StopIteration`."""
        if self._inner.taken:
            self._bar.update(1)
        try:
            return self._inner.take()
        except StopIteration:
            self._bar.close()
            raise

    def value(self, position: int) -> object:
        """As of the items themselves."""
        return self._inner.value(position)

    def jump(self, position: int) -> bool:
        """Makes the item at `position` the next one."""
        self._bar.update(position - self._inner.taken)
        return self._inner.jump(position)

    def rest(self) -> Iterator:
        """The items that are left."""
        return itertools.chain(self._advance(), self._inner.rest())

    def _advance(self) -> Iterator:
        self._bar.update(1)
        return iter(())


def open_items(iterable: object) -> Items:
    """The items of an iterable, as a loop begins. Raises the error of `iter`."""
    if type(iterable) in (range, list, tuple):
        return Indexed(iterable)
    if type(iterable) is Enumerate:
        return Numbered(open_items(iterable.iterable), iterable.start)
    inner = objects.list_own(iterable).get("iterable") if _is_bar(iterable) else None
    return Bar(iterable, open_items(inner)) if inner is not None else Items(iterable)


def _is_bar(value: object) -> bool:
    module = objects.find_in_class(value, "__module__")
    return type(module) is str and module.startswith("tqdm")


def _length(iterable: object) -> int | None:
    """The length of a loader or a container; `None` if it has none, or fails to say."""
    if not hasattr(type(iterable), "__len__"):
        return None
    try:
        return len(iterable)
    # The program's own `__len__` may raise anything: then the loop ends when it ends.
    except Exception:
        return None
