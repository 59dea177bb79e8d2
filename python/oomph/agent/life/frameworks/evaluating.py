"""The evaluation loop of a library, with the outputs of all batches until the end.

A loop with growing memory runs in full within some seconds. After these seconds the library's containers are lengthened, if known, and the last
batches run.
"""

import time
from collections.abc import Callable
from types import FrameType

from ...failure import guarded
from ...process import frames
from ..loaders import LoaderPasses
from ..passes import Control
from ..signature import Pass, Reading, between, find_period
from .watched import Watched, watch

# The processor seconds of a loop with growing memory, and of all loops.
_SECONDS, _ALL_SECONDS = 20.0, 40.0
# Passes before a first jump.
_FEWEST = 6
_LARGEST = 2
# The processor seconds of all loops so far.
_spent = [0.0]


class Evaluating:
    """One run of the loop."""

    def __init__(self, control: Control, frame: FrameType) -> None:
        self._control = control
        self._loop: Watched = watch(*frames.users_line(frame), part="evaluation")
        self._last: Reading = control.pulse.read()
        self._passes: list[Pass] = []
        self._start = time.process_time()
        self._largest: list[int] | None = None
        self._over = 0

    @guarded
    def end(self) -> None:
        """The loop has ended."""
        _spent[0] += time.process_time() - self._start

    @guarded
    def end_pass(self, loader: LoaderPasses | None, raise_counters: Callable[[int], object], extend: Callable[[int, int], object]) -> None:
        """Notes a pass, and jumps if passes repeat or take too long.

        `raise_counters(over)` is called after a jump over so many batches. `extend(ran, over)` lengthens the containers of the loop by the
        outputs of more batches, if they are known.
        """
        now = self._control.pulse.read()
        self._passes.append(between(self._last, now))
        self._loop.passes += 1
        if loader is not None and loader.total is not None:
            self._loop.total = loader.total
            period = self._find_period(loader)
            over = 0 if period is None else self._jump(loader, period)
            if over:
                raise_counters(over)
                self._note_reason(loader, extend, over)
                self._over += over
        self._last = self._control.pulse.read()

    def _find_period(self, loader: LoaderPasses) -> int | None:
        if len(self._passes) < _FEWEST:
            return None
        period = find_period(self._passes)
        if period is not None and loader.are_alike:
            return period
        used = time.process_time() - self._start
        return 1 if used > _SECONDS or used + _spent[0] > _ALL_SECONDS else None

    def _jump(self, loader: LoaderPasses, period: int) -> int:
        """Jumps; returns the number of batches left out."""
        self._largest = self._largest if self._largest is not None else list(loader.list_largest(_LARGEST) or ())
        targets = [it for it in (*self._largest, loader.total - 1) if it > loader.position]
        over = (min(targets) - loader.position) // period * period if targets else 0
        return over if over > 0 and loader.jump(loader.position + over) else 0

    def _note_reason(self, loader: LoaderPasses, extend: Callable[[int, int], object], over: int) -> None:
        self._loop.is_shortened = True
        grows = self._passes[-1].current_bytes != self._passes[-2].current_bytes and find_period(self._passes) is None
        if grows:
            # Longer containers show the allocated memory of the whole loop, and not the fragments that the omitted passes would have left.
            extend(len(self._passes) + self._over, over)
            self._loop.reason = "cut"
        elif not loader.are_alike and self._loop.reason != "cut":
            self._loop.reason = "largest" if self._largest else "varying"
