"""Runs code of the program's in bounded time: a dataset, a collate function."""

import sys
import time
from collections.abc import Callable
from types import FrameType

# The seconds for one loader: of the processors, and of the clock, for a dataset that waits.
_SECONDS, _WAITING = 3.0, 10.0
# The lines of Python for one loader, and the lines between two readings of the clock.
_LINES, _BETWEEN = 20_000_000, 1 << 12


class Spent(BaseException):
    """The time is up. No `except Exception` of the program's catches it."""


class Bounds:
    """The time that is left for one loader. Native code is not interrupted."""

    def __init__(self, seconds: float = _SECONDS) -> None:
        self._left = _LINES
        self._ends = (time.process_time() + seconds, time.monotonic() + _WAITING * seconds / _SECONDS)
        self._seconds = seconds

    def take_part(self, share: float) -> "Bounds":
        """Bounds that end earlier: `share` of all the time is left after them."""
        part = Bounds(self._seconds)
        part._ends = (self._ends[0] - share * self._seconds, self._ends[1])
        return part

    def are_spent(self) -> bool:
        """True if the time is up."""
        return self._left < 0 or time.process_time() > self._ends[0] or time.monotonic() > self._ends[1]

    def call(self, function: Callable[..., object], *args: object) -> object:
        """Calls a function of the program's; raises `Spent` where the time is up, also in the middle of its Python code."""
        if self.are_spent():
            raise Spent
        outer = sys.gettrace()
        sys.settrace(self._count)
        try:
            return function(*args)
        finally:
            sys.settrace(outer)

    def _count(self, _frame: FrameType, _event: str, _value: object) -> Callable:
        self._left -= 1
        if self._left < 0 or (self._left % _BETWEEN == 0 and self.are_spent()):
            raise Spent
        return self._count
