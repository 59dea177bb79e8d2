"""The items of a loop, and the ways to jump over some of them."""

import time
from collections.abc import Iterable, Iterator

from ..failure import guarded
from ..process import objects
from . import loaders
from .calls import Enumerate
from .outlines import agrees, extrapolate, has_number, measure, outline

# The seconds of processor time for items that are made and not used.
_SECONDS = 4.0
# The items before, of a list, with which the next are compared.
_COMPARED = 1_000
# No item is held.
_NOTHING = object()
# A position behind every last one.
FAR = 1 << 40


class Items:
    """The items of any iterable.

    A loader with known batches jumps by itself. Items of another kind are made and not used, for some seconds. An item that is larger than all
    before is not jumped over, and neither is the last item.
    """

    def __init__(self, iterable: Iterable) -> None:
        opened = loaders.opened.count
        self._begin(iter(iterable), opened, _length(iterable))

    def _begin(self, iterator: Iterator, opened: int, total: int | None) -> None:
        self._iterator = iterator
        self.taken = 0
        self.total = total
        # The number of loaders opened before the loop.
        self._opened_before = opened
        self._held: object = _NOTHING
        self._largest_bytes = 0
        # The numbers in the last three items in a row, and the position of the last.
        self._outlines: tuple[object, object, object] = (None, None, None)
        self._measured_at = 0
        # The error that the iterator raised behind the held item.
        self._error: Exception | None = None
        # True if items were left out that nobody has seen, and if no item is left.
        self.has_unseen = self.is_over = False

    def take(self) -> object:
        """The next item. Raises `StopIteration`."""
        self.taken += 1
        if self._held is not _NOTHING:
            held, self._held = self._held, _NOTHING
            self._outlines, self._measured_at = (None, None, outline(held)), self.taken - 1
            return held
        if self._error is not None:
            raise self._error
        # No variable holds the item: the program may delete its own.
        return self._measured(next(self._iterator))

    def _measured(self, item: object) -> object:
        self._note(item)
        return item

    @guarded
    def _note(self, item: object) -> None:
        self._measured_at = self.taken - 1
        self._largest_bytes = max(self._largest_bytes, measure(item))
        self._outlines = (*self._outlines[1:], outline(item))

    def value(self, position: int) -> object:
        """The item at a position, as far as numbers count on, with `None` for all parts but numbers."""
        return extrapolate(*self._outlines, position - self._measured_at)

    @property
    def loader(self) -> "loaders.LoaderPasses | None":
        """The loader of the items: the first opened for the loop."""
        return loaders.opened.find_after(self._opened_before)

    def jump(self, position: int) -> bool:
        """Makes the item at `position`, or an earlier item, the next; `taken` is the position. False without an item to jump to."""
        loader, left = self.loader, position - self.taken
        if loader is not None and not loader.is_stream and loader.total and self._jump_in(loader, loader.position + left):
            self.taken, self._held = position, _NOTHING
            return True
        return self._skip(position)

    def _jump_in(self, loader: "loaders.LoaderPasses", position: int) -> bool:
        """Jumps in a loader, which a generator may begin again and again."""
        is_again = self.total is None and loader.total <= position < FAR
        return loader.jump(position % loader.total if is_again else position)

    def _skip(self, position: int) -> bool:
        start, first, is_uniform = time.process_time(), self.taken, True
        while self.taken < position:
            if time.process_time() - start > _SECONDS:
                self.has_unseen = True
                # Items of one size: the items to come are alike.
                self.taken = position if is_uniform and position < FAR else self.taken
                break
            try:
                item = next(self._iterator)
            except StopIteration:
                self.is_over = True
                break
            # The program's own: it comes at the pass at which it would have come.
            except Exception as error:
                self._error, self.is_over = error, True
                break
            if self._held is not _NOTHING:
                self.taken += 1
            self._held, size = item, measure(item)
            if size > self._largest_bytes or not agrees(self.value(self.taken), outline(item)):
                self._largest_bytes = max(size, self._largest_bytes)
                break
            is_uniform = is_uniform and size == self._largest_bytes
            del item
        return self._held is not _NOTHING or self.taken > first

    @property
    def is_ready(self) -> bool:
        """False right behind a jump, while it is not known how numbers in the items go on."""
        return not has_number(self._outlines[2]) or None not in self._outlines

    def rest(self) -> Iterator:
        """The remaining items, for a loop that is left alone."""
        return self._iterator


class Read(Items):
    """The items that a `while` reads from an iterator, by `next`."""

    def __init__(self, iterator: Iterator, taken: int) -> None:
        self._begin(iterator, loaders.opened.count, None)
        self.taken = taken

    @property
    def iterator(self) -> Iterator:
        """The iterator."""
        return self._iterator

    @property
    def loader(self) -> "loaders.LoaderPasses | None":
        """The iterator itself, of a loader, or the loader that it reads."""
        return self._iterator if isinstance(self._iterator, loaders.LoaderPasses) else super().loader


class Indexed(Items):
    """The items of a range, a list or a tuple.

    Of a list and a tuple no item is jumped over that is larger than all before, nor a number that does not go on as the last three, nor the
    largest number.
    """

    has_unseen = is_over = False
    is_ready = True

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
        """Makes the item at `position`, or an earlier item that differs, the next one."""
        self.taken = position if type(self._values) is range else self._find_other(position)
        return self.taken < len(self._values)

    def _find_other(self, position: int) -> int:
        """The first item before `position` that is not jumped over; else `position`."""
        start, before = time.process_time(), self._values[: self.taken]
        largest = max(map(measure, before[-_COMPARED:]), default=0)
        highest = max((it for it in self._values if type(it) is int), default=None)
        is_open = not any(type(it) is int and it == highest for it in before)
        last = (None, None, None, *map(outline, before[-3:]))[-3:]
        for at in range(self.taken, min(position, len(self._values))):
            item = self._values[at]
            is_highest = is_open and type(item) is int and item == highest
            is_expected = agrees(extrapolate(*last, at - self.taken + 1), outline(item))
            if is_highest or not is_expected or measure(item) > largest:
                return at
            if time.process_time() - start > _SECONDS:
                self.has_unseen = True
                break
        return position

    def rest(self) -> Iterator:
        """The items that are left."""
        if type(self._values) is range:
            return iter(self._values[self.taken :])
        iterator = iter(self._values)
        iterator.__setstate__(self.taken)
        return iterator


class Wrapped(Items):
    """Items around others."""

    def __init__(self, inner: Items) -> None:
        self._inner = inner

    has_unseen = property(lambda self: self._inner.has_unseen)
    is_over = property(lambda self: self._inner.is_over)
    is_ready = property(lambda self: self._inner.is_ready)
    taken = property(lambda self: self._inner.taken)
    total = property(lambda self: self._inner.total)
    loader = property(lambda self: self._inner.loader)

    def value(self, position: int) -> object:
        """As of the items inside."""
        return self._inner.value(position)

    def jump(self, position: int) -> bool:
        """As of the items inside."""
        return self._inner.jump(position)


class Numbered(Wrapped):
    """The items of an `enumerate`."""

    def __init__(self, inner: Items, start: int) -> None:
        super().__init__(inner)
        self._start = start

    def take(self) -> object:
        """The next number and item. Raises `StopIteration`."""
        number = self._inner.taken + self._start
        return number, self._inner.take()

    def value(self, position: int) -> object:
        """The number, and the item if it is known."""
        return self._start + position, self._inner.value(position)

    def rest(self) -> Iterator:
        """The items that are left."""
        start = self._start + self._inner.taken
        return enumerate(self._inner.rest(), start)


class Bar(Wrapped):
    """The items of a progress bar of tqdm's, which counts skipped items too."""

    def __init__(self, bar: object, inner: Items) -> None:
        super().__init__(inner)
        self._bar = bar

    def take(self) -> object:
        """The next item. Raises `StopIteration`."""
        if self._inner.taken:
            self._bar.update(1)
        try:
            return self._inner.take()
        except StopIteration:
            self._bar.close()
            raise

    def jump(self, position: int) -> bool:
        """Makes the item at `position` the next one."""
        before = self._inner.taken
        has_jumped = self._inner.jump(position)
        self._bar.update(self._inner.taken - before)
        return has_jumped

    def rest(self) -> Iterator:
        """The items that are left; the bar goes on."""
        self._bar.update(1)
        for item in self._inner.rest():
            yield item
            self._bar.update(1)
        self._bar.close()


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
    """The length of a loader or a container; `None` without a length, or if `len` fails."""
    if not hasattr(type(iterable), "__len__"):
        return None
    try:
        return len(iterable)
    # The program's own `__len__` may raise anything: then the loop ends when it ends.
    except Exception:
        return None
