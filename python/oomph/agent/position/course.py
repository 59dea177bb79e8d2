"""Decides after each optimizer step whether the program has shown enough, and notes what it still had before it.

The requested number of steps is made in any case. After them the program is stopped if nothing is to come that did not run (Note [Ahead]
in `ahead.look`) and the last steps left the same memory and the same peak. Else it goes on, as long as a step takes little time: until the
program ends, until a growth stops or fills the device, or until the steps took too long together. A program of very small steps goes on for
some seconds in any case: a run is evidence, and sources are none.
"""

import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from types import FrameType

import torch

from .. import records
from ..ahead.items import Ahead
from ..ahead.look import look
from ..ahead.stops import list_behind_plateaus, list_early_ends
from ..ahead.taken import Taken
from ..ahead.unnoted import add_unnoted
from ..ahead.untaken import correct
from ..failure import guarded
from ..process import frames
from ..process.own_files import list_own_files
from ..source.flow import has_condition


@dataclass(frozen=True)
class _Allowance:
    """What steps after the requested ones may cost."""

    # Allocations and frees of a step, and of all steps: they are the same on every machine. 10,000 take about a second.
    step_events: int
    all_events: int
    # What the host computes meanwhile, in seconds of processor time: a wait for other programs does not count.
    all_seconds: float


# Calls that make a copy of a tensor that is there.
_COPIES = ("to", "cuda", "clone", "detach", "contiguous", "float", "half")
# For a program with more to show.
_OPEN = _Allowance(step_events=5_000, all_events=200_000, all_seconds=10.0)
# For a program that seems to repeat itself.
_SETTLED = _Allowance(step_events=500, all_events=100_000, all_seconds=5.0)

# For a program whose loops are shortened.
_WHOLE = _Allowance(step_events=1_000_000, all_events=600_000, all_seconds=30.0)

# A program that ends after so few steps has shown no repetition.
_FEW_STEPS = 3


class Course:
    """The steps of a program."""

    def __init__(self, wanted: int, more: int, looks: bool, taken: Taken | None = None) -> None:
        self.wanted = wanted
        self.more = more
        # False for the trials of a search, of which only the peak counts.
        self.looks = looks
        # The instructions that ran; `None` for a trial.
        self._taken = taken
        self._ahead: Ahead | None = None
        self._running: set[tuple[str, int]] = set()
        self._steps = 0
        # The bytes at the peak and after each step, of all devices.
        self._bytes: list[tuple[int, int]] = []
        # After each step: the allocations and frees so far, and the processor time.
        self._events: list[int] = []
        self._seconds: list[float] = []
        self._look_at = wanted
        # True if the loops are shortened, and the program runs to its own end.
        self.is_whole = False

    def begin(self, frame: FrameType | None) -> None:
        """An optimizer is made: the loop is near."""
        if self._taken is not None:
            self._taken.begin(frame)

    def end(self) -> None:
        """The program is stopped."""
        if self._taken is not None:
            self._taken.end()

    def note_step(self, devices: list[dict], events: int) -> None:
        """Notes the memory after a step; `events`: the allocations and frees since the program began."""
        peak = sum(stats["allocated_peak_bytes"] for stats in devices)
        self._bytes.append((peak, sum(stats["allocated_bytes"] for stats in devices)))
        self._events.append(events)
        self._seconds.append(time.process_time())
        if self._taken is not None:
            self._taken.note_step()

    def is_enough(self, fewest: int, frame: FrameType | None, optimizers: Collection[torch.optim.Optimizer] = ()) -> bool:
        """True if the program is to be stopped; `fewest`: the steps of the optimizer of `optimizers` that made the fewest."""
        if self.wanted == 0 or fewest < self.wanted:
            return False
        is_alone = not has_ranks()
        if self.is_whole and is_alone and self._is_within(_WHOLE):
            return False
        is_last = fewest >= self.wanted + self.more or not self._is_within(_OPEN) or not is_alone
        if self.looks and (fewest >= self._look_at or is_last):
            self._look_at = 2 * fewest
            self._ahead, self._steps = self._look(frame, fewest, optimizers), fewest
            # A call behind the one that is running, on the same line, did not run with it.
            self._running = {(file, line) for _, file, line in frames.stack(frame)}
        return is_last or (self._is_settled() and not self._is_within(_SETTLED))

    def list_undecided(self) -> list[dict]:
        """The records of what an assumed number decided in a program that ended: the loops that it may have ended, if there were few steps and
        the memory grew, and the branches behind a plateau.
        """
        files = list_own_files() if self._bytes else []
        is_early = 0 < len(self._bytes) <= _FEW_STEPS and not self._repeats()
        items = [*(list_early_ends(files) if is_early else ()), *list_behind_plateaus(files)]
        return [records.ahead(reason=it.reason, what=it.what, file=it.file, line=it.line, shares_line=True) for it in items]

    def list_records(self) -> Iterator[dict]:
        """The records of what was to come, where the program was stopped after its steps."""
        if self._ahead is None:
            return
        # A report names three: a copy says least.
        for item in sorted(self._ahead.items, key=lambda it: it.what in _COPIES):
            is_known = self._taken is not None and self._taken.is_on
            shares_line = is_known or (item.file, item.line) in self._running or has_condition(item.file, item.line)
            yield records.ahead(reason=item.reason, what=item.what, file=item.file, line=item.line, shares_line=shares_line)
        yield records.course(total_steps=self._ahead.count_steps(self._steps), file=self._ahead.file, line=self._ahead.line)

    @guarded
    def _look(self, frame: FrameType | None, steps: int, optimizers: Collection[torch.optim.Optimizer]) -> Ahead:
        ahead = look(frame, steps)
        if self._taken is not None and self._taken.is_on:
            correct(ahead, self._taken, frame)
        else:
            add_unnoted(ahead, frame, optimizers)
        return ahead

    def _is_settled(self) -> bool:
        """True if the last two steps were alike and nothing else is ahead."""
        return self._repeats() and self._ahead is not None and not self._ahead.items

    def _repeats(self) -> bool:
        return len(self._bytes) > 1 and self._bytes[-1] == self._bytes[-2]

    def _is_within(self, allowed: _Allowance) -> bool:
        events, seconds = self._events, self._seconds
        if len(events) < 2:
            return False
        start = min(self.wanted, len(events)) - 1
        is_short = events[-1] - events[-2] <= allowed.step_events
        return is_short and events[-1] - events[start] <= allowed.all_events and seconds[-1] - seconds[start] <= allowed.all_seconds


def has_ranks() -> bool:
    """True in a job of several ranks: ranks that stop after different steps would wait for each other."""
    distributed = torch.distributed
    return distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1
