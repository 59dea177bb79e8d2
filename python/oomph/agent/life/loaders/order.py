"""The order of an epoch: the index lists of a sampler, by position."""

import sys
import time
from collections.abc import Iterator

from torch.utils.data import BatchSampler, SequentialSampler

from . import random_state

# The most indices in memory, and the most processor seconds for lists drawn ahead of the program.
_INDICES = 2_000_000
_SECONDS = 2.0


class Order:
    """An iterator over the index lists of an epoch, with a cursor for jumps."""

    def __init__(self, sampler: object, source: Iterator[object]) -> None:
        self.cursor = 0
        self.total = count(sampler)
        self._sampler = sampler
        self._source = source
        # The lists from position 0, the number of indices in them, and the number of lists drawn.
        self._lists: list[object] = []
        self._indices = 0
        self._drawn = 0
        # The sampler's last words: `StopIteration`, or an error.
        self._end: Exception | None = None
        # True once a list stands at another position than its own.
        self._has_leapt = False
        self._rows = _count_rows(sampler)

    def __iter__(self) -> "Order":
        return self

    def __next__(self) -> object:
        found = self._take(self.cursor)
        self.cursor += 1
        return found

    def seek(self, position: int) -> bool:
        """Moves the cursor to a position of the epoch, or to its end; False for other positions."""
        if self._rows is not None and self.total is not None:
            is_there = position <= self.total
        else:
            self._draw_to(position)
            is_end = position == len(self._lists) and self.is_whole
            is_there = position < len(self._lists) or is_end or self._leap(position)
        if is_there:
            self.cursor = position
        return is_there

    @property
    def is_whole(self) -> bool:
        """True if the sampler has come to its end."""
        return isinstance(self._end, StopIteration)

    def read_all(self) -> int:
        """Draws the lists of the epoch, within the bounds; returns the number of known lists."""
        if self._rows is not None:
            return self.total or 0
        self._draw_to(sys.maxsize)
        return len(self._lists)

    def count_samples(self) -> int:
        """The number of samples in the known lists."""
        return self._indices if self._rows is None else self._rows

    def find(self, position: int) -> object | None:
        """The list at a position; `None` for an unknown one."""
        if self._rows is not None:
            return self._compute(position)
        self._draw_to(position)
        return self._lists[position] if position < len(self._lists) else None

    def _take(self, position: int) -> object:
        if self._rows is not None:
            found = self._compute(position)
        elif position < len(self._lists):
            found = self._lists[position]
        elif self._has_leapt:
            found = self._stand_in(position)
        else:
            found = self._draw()
        if found is not None:
            return found
        error, self._end = self._end or StopIteration(), StopIteration()
        try:
            raise error
        finally:
            # The traceback holds this frame, and the iterator in the callers' frames.
            del error

    def _compute(self, position: int) -> object | None:
        """The list at a position of sequential data; `None` behind the end."""
        if self.total is not None and position >= self.total:
            return None
        size = _size_of(self._sampler)
        if size is None:
            return position
        return list(range(position * size, min((position + 1) * size, self._rows)))

    def _draw_to(self, position: int) -> None:
        """Draws lists up to `position`, within the bounds."""
        if position < len(self._lists) or self._end is not None or self._has_leapt:
            return
        if self._drawn == self.cursor:
            # The program would draw the list next.
            self._draw()
        with random_state.kept():
            last = time.process_time() + _SECONDS
            while self._drawn <= position and self._end is None and self._is_kept() and time.process_time() < last:
                self._draw()

    def _is_kept(self) -> bool:
        return self._drawn == len(self._lists) and self._indices < _INDICES

    def _draw(self) -> object | None:
        """The sampler's next list; `None` at its end."""
        if self._end is not None:
            return None
        try:
            found = next(self._source)
        except StopIteration:
            # An exception of its own: the traceback of the caught one would keep this object in a circle.
            self._end = StopIteration()
            return None
        except Exception as error:
            self._end = error
            return None
        found = list(found) if type(found) is list else found
        if self._is_kept():
            self._lists.append(found)
            self._indices += len(found) if type(found) is list else 1
        self._drawn += 1
        return found

    def _leap(self, position: int) -> bool:
        """From now on the sampler's next list stands at the cursor, with the length of the list that belongs there."""
        if self._end is not None or self.total is None or not len(self._lists) <= position <= self.total or self._drawn > position:
            return False
        self._has_leapt = True
        return True

    def _stand_in(self, position: int) -> object | None:
        if position >= self.total:
            return None
        found = self._draw()
        if found is None and self._lists:
            found = self._lists[0]
        size = _size_of(self._sampler)
        rows = None if size is None else count(self._sampler.sampler)
        if rows is None or type(found) is not list:
            return found
        return found[: max(rows - position * size, 1)]


def count(sampler: object) -> int | None:
    """The length by the program's own code; `None` without a length."""
    try:
        found = len(sampler)
    # Endless samplers raise `TypeError`; the code of the program may raise any other error.
    except Exception:
        return None
    return found if type(found) is int else None


def _size_of(sampler: object) -> int | None:
    """The size of the batches of PyTorch's own batch sampler."""
    size = sampler.batch_size if type(sampler) is BatchSampler else None
    return size if type(size) is int and size > 0 else None


def _count_rows(sampler: object) -> int | None:
    """The number of samples of sequential data; `None` for other samplers than PyTorch's."""
    inner = sampler.sampler if _size_of(sampler) is not None else sampler
    return count(inner) if type(inner) is SequentialSampler else None
