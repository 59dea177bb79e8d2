"""The running loops of a program, and the decision about the next pass of each.

Running loops lie on a stack. A loop that ended by a `break`, a `return` or an error is removed when an outer loop goes on. Only
loops of the first thread are shortened, after the import of PyTorch, and not in forked processes.
"""

import os
import sys
import threading
import types
from collections.abc import Callable, Iterator

from ..failure import guarded
from ..position.course import has_ranks
from . import rewriting
from .counters import JobSteps
from .items import open_items
from .known import KNOWN, Known
from .run import Run
from .signature import Pulse
from .stages import Stages
from .untaken import Untaken

# A loop of so many passes without any work is left alone.
_DULL = 64


class Control:
    """The loops that run."""

    def __init__(self, pulse: Pulse, stages: Stages, wanted: int, show_skipped: Callable[[int], object] = lambda _steps: None) -> None:
        self.pulse = pulse
        self.stages = stages
        self.steps = JobSteps(pulse.count_steps, show_skipped)
        # The loops that have made optimizer steps.
        self._trained: set[int] = set()
        self.wanted = wanted
        self.stack: list[Run] = []
        # The runs that left out passes: the last of each loop.
        self.shortened: dict[int, Run] = {}
        self.untaken = Untaken()
        self.is_on = True
        self._thread = threading.get_ident()
        self._process = os.getpid()

    def applies(self) -> bool:
        """True for the first thread of the process."""
        return self.is_on and threading.get_ident() == self._thread and os.getpid() == self._process

    def begin(self, number: int, items: object, frame: types.FrameType) -> Run:
        """Enters a loop; `items`: the iterable of a `for`, `None` for a `while`."""
        left = self.find(number, frame)
        if left is not None:
            # A `while` that ended inside of a loop that is left alone.
            del self.stack[self.stack.index(left) :]
        one, opened = rewriting.LOOPS[number], None if items is None else open_items(items)
        run = Run(one, opened, KNOWN.setdefault(one.number, Known()), self.pulse.read(), id(frame), self.untaken, self.steps)
        self.stack.append(run)
        self.stages.begin_loop(is_again=number in self._trained)
        return run

    def run_all(self, run: Run) -> Iterator[Iterator]:
        """The items of a `for`: watched passes, then the rest of a loop that is left alone."""
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
        self._leave(run)
        if not run.has_begun:
            run.has_begun = True
            return True
        reading = self.pulse.read()
        run.end_pass(reading)
        if run.passes[-1].steps:
            self._trained.add(run.loop.number)
            # A pass of many steps is an epoch.
            if run.passes[-1].steps > 1:
                self.stages.begin_loop(is_again=True)
            else:
                self.stages.begin_step_pass()
        if run.loop.is_for and len(run.passes) == _DULL and not any(it.allocations or it.work for it in run.passes):
            return False
        run.find_places(frame)
        run.note_lots(frame)
        if run.is_stuck or has_ranks() or not self.pulse.is_counting:
            return True
        period = run.find_repetition(self.wanted, reading.steps)
        if period is None:
            return True
        run.plan(frame, period)
        self.stages.begin_pass(run.is_at_largest())
        goes = run.go_on(period)
        if run.is_shortened or not goes:
            self.shortened[run.loop.number] = run
        if not goes:
            self.end(run)
        return goes

    def _leave(self, run: Run) -> None:
        """Removes the loops inside that ended by a `break`, a `return` or an error."""
        while self.stack[-1] is not run:
            inner = self.stack.pop()
            self.stack[-1].note_inside(inner)

    def take_next(self, iterator: object) -> object:
        """The next item of an iterator that the innermost loop reads once in a pass. Raises `StopIteration`."""
        run = self.stack[-1] if self.stack else None
        items = None if run is None or run.loop.is_for else run.find_read(iterator)
        return next(iterator) if items is None else items.take()

    def find(self, number: int, frame: types.FrameType) -> Run | None:
        """The innermost run of a loop in the present call of the function."""
        return next((it for it in reversed(self.stack) if it.loop.number == number and it.frame_id == id(frame)), None)

    def end(self, run: Run) -> None:
        """Leaves a loop."""
        if run not in self.stack:
            return
        self._leave(run)
        self.stack.pop()
        if self.stack:
            self.stack[-1].note_inside(run)
        steps = self.pulse.count_steps()
        if run.has_trained(steps) and not any(it.has_trained(steps) for it in self.stack):
            self._trained.add(run.loop.number)
            self.stages.end_training()


@guarded
def _advance(control: Control, run: Run, frame: types.FrameType) -> bool:
    return control.advance(run, frame)
