"""Runs the loops of a program: the functions that a changed source calls (`rewriting`).

The loops that run lie on a stack. A loop that was left by a `break`, a `return` or an error is found out when a loop around it goes on. Only
the first thread's loops are shortened, and none before the program has imported PyTorch, or in a process that it forks.
"""

import itertools
import os
import sys
import threading
import types
from collections.abc import Callable, Iterator

from ..failure import guarded
from . import rewriting
from .items import Enumerate, open_items
from .run import KNOWN, Known, Run
from .signature import Pulse

__all__ = ["Enumerate", "begin_pass", "enter", "goes_on", "loop", "note_branch", "value_of"]

# A loop of so many passes without any work is left alone.
_DULL = 64


class Control:
    """The loops that run."""

    def __init__(self, pulse: Pulse, wanted: int) -> None:
        self.pulse = pulse
        self.wanted = wanted
        self.stack: list[Run] = []
        # The runs that left out passes: the last of each loop.
        self.shortened: dict[int, Run] = {}
        self.is_on = True
        self._thread = threading.get_ident()
        self._process = os.getpid()

    def applies(self) -> bool:
        """True for the first thread of the process."""
        return self.is_on and threading.get_ident() == self._thread and os.getpid() == self._process

    def begin(self, one: rewriting.Loop, items: object, frame: types.FrameType) -> Run:
        """Enters a loop."""
        run = Run(one, items, KNOWN.setdefault(one.number, Known()), self.pulse.read(), id(frame))
        self.stack.append(run)
        return run

    def run_all(self, run: Run) -> Iterator[Iterator]:
        """The items of a `for`: those of the passes that are watched, and the rest of a loop that is left alone."""
        try:
            yield self._watch(run)
            if run in self.stack:
                yield run.items.rest()
        finally:
            self.end(run)

    def _watch(self, run: Run) -> Iterator:
        while self.go_on(run, sys._getframe(1)):
            try:
                yield run.items.take()
            except StopIteration:
                self.end(run)
                return

    def go_on(self, run: Run, frame: types.FrameType) -> bool:
        """Ends a pass of the loop, and moves the loop to its next; False if the loop ends, or is left alone."""
        goes = _advance(self, run, frame)
        return True if goes is None else goes

    def advance(self, run: Run, frame: types.FrameType) -> bool:
        """As `go_on`. Raises whatever goes wrong."""
        if run not in self.stack:
            return True
        del self.stack[self.stack.index(run) + 1 :]
        if not run.has_begun:
            run.has_begun = True
            return True
        reading = self.pulse.read()
        run.end_pass(reading)
        if run.items is not None and len(run.passes) == _DULL and not any(it.allocations or it.work for it in run.passes):
            return False
        run.find_places(frame)
        if run.is_stuck:
            return True
        period = run.find_repetition(self.wanted, reading.steps)
        if period is None and run.is_varying() and reading.steps >= min(self.wanted, reading.steps + (not any(it.steps for it in run.passes))):
            period = 1
        if period is None:
            return True
        run.plan(frame, period)
        goes = run.go_on(period)
        if run.is_shortened or not goes:
            self.shortened[run.loop.number] = run
        if not goes:
            self.end(run)
        return goes

    def find(self, number: int, frame: types.FrameType) -> Run | None:
        """The innermost run of a loop in this call of its function."""
        return next((it for it in reversed(self.stack) if it.loop.number == number and it.frame_id == id(frame)), None)

    def end(self, run: Run) -> None:
        """Leaves a loop."""
        if run in self.stack:
            del self.stack[self.stack.index(run) :]


@guarded
def _advance(control: Control, run: Run, frame: types.FrameType) -> bool:
    return control.advance(run, frame)


_control: Control | None = None
_is_compiling: Callable[[], bool] = lambda: False
# The branches that ran.
ran: set[int] = set()


def start(control: Control, is_compiling: Callable[[], bool]) -> None:
    """Begins to shorten loops."""
    global _control, _is_compiling
    _control, _is_compiling = control, is_compiling


def loop(items: object, number: int) -> object:
    """The items of a `for`."""
    if _is_compiling() or _control is None or not _control.applies():
        return items
    run = _control.begin(rewriting.LOOPS[number], open_items(items), sys._getframe(1))
    return itertools.chain.from_iterable(_control.run_all(run))


def begin_pass(number: int, *values: object) -> tuple:
    """The counters of a `for`, at the begin of a pass."""
    run = None if _is_compiling() or _control is None else _control.find(number, sys._getframe(1))
    return values if run is None else tuple(run.begin(values))


def enter(number: int) -> None:
    """A `while` is about to begin."""
    if not _is_compiling() and _control is not None and _control.applies():
        _control.begin(rewriting.LOOPS[number], None, sys._getframe(1))


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


def note_branch(number: int) -> None:
    """A branch of a condition runs."""
    if not _is_compiling():
        ran.add(number)
