"""The program's device memory, as parts of the session."""

from collections.abc import Iterator

import torch

from .. import records
from ..part import Part, Write
from ..position.enclosing import list_all_loops
from ..position.part import Position
from ..process.environment import Environment
from ..failure import guarded, say
from ..process.own_files import note_main
from ..record_file import RecordFile
from . import history, leftovers, limits
from .census import Census
from .living import Living
from .oom import OutOfMemory
from .positions import Positions
from .stats import Stats

# The steps with a census though the peak has not risen: the first steps, and every 25th.
_EVERY_STEP_UNTIL = 3
_EVERY = 25
# By how much the peak must rise for a census of its own.
_RISE = 1 + 1 / 1024


class Memory(Part):
    """Counters, history and censuses, and the state at an out-of-memory error."""

    def __init__(self, env: Environment, position: Position, record_file: RecordFile) -> None:
        self._env = env
        self._marks = position.marks
        self._record_file = record_file
        self.stats = Stats()
        self._positions = Positions(self.stats)
        self._census = Census(position.modules, position.steps.optimizers)
        self._living = Living(position.modules, self._census)
        self._oom = OutOfMemory(position.marks, record_file, self.stats, position.backward, self._living, self._note_oom)
        # True if PyTorch records a history.
        self._is_recorded = True
        self._known_peak = 0
        # The snapshot saved at the first out of memory, while the program has made no step since.
        self._saved_at_oom: str | None = None

    def install(self, write: Write) -> None:
        """Keeps the counts that the program resets."""
        self.stats.install()

    def attach(self) -> None:
        """Starts PyTorch's history. PyTorch records its own allocator only, and raises for others."""
        self.stats.attach()
        note_main()
        if not self._env.history:
            self._is_recorded = False
            self._oom.attach()
            return
        try:
            history.record()
        except RuntimeError as error:
            self._is_recorded = False
            self._record_file.write(records.unrecorded(reason=str(error)))
            return
        self._marks.attach(self._positions.setter())
        self._oom.attach()

    def reset(self) -> None:
        """Starts afresh, in a forked child."""
        self._positions.reset()

    @guarded
    def take_census(self, when: str) -> None:
        """Records the storages of the known modules and optimizers."""
        if torch.cuda.is_initialized() and self._env.history:
            tensors = self._census.take()
            record = records.census(number=self._marks.next_census(), step=self._marks.step, when=when, tensors=tensors)
            self._record_file.write(record)

    @guarded
    def begin_step(self) -> None:
        """Takes the census of a step, if it may matter."""
        if self._is_census_due():
            self.take_census("optimizer")

    def end_step(self) -> None:
        """The program has gone on: the snapshot of an earlier out of memory is not that of its end."""
        self._saved_at_oom = None
        self._oom.attempts.note_progress(is_step=True)

    def end_forward(self) -> None:
        """A smaller size may have been served after an out of memory."""
        self._oom.attempts.note_progress(is_step=False)

    def last_snapshot(self, reason: str) -> str | None:
        """The snapshot at the end; the one of the out of memory that ended the program is not written twice."""
        if reason == "exception" and self._saved_at_oom is not None and self._count_ooms() == 1:
            return self._saved_at_oom
        return self._write_snapshot()

    def finish(self, reason: str, write: Write) -> None:
        """The records of the last out-of-memory error's surroundings, or of the root modules at the end."""
        surroundings = self._oom.surroundings or self._list_at_end(reason)
        for row in (*surroundings, *self._oom.attempts.list_records()):
            write(row)

    def _list_at_end(self, reason: str) -> Iterator[dict]:
        """What a program without an error shows: its root modules; without steps, also its loops, and the containers that are left."""
        yield from self._living.list_roots()
        if reason == "exit" and self._env.history and self._marks.step <= 1:
            yield from list_all_loops()
            yield from self._living.list_keepers()

    def _is_census_due(self) -> bool:
        """True if this step's gradients may matter: the peak has risen since the last census, or the step is early, the last, or a 25th.

        Walking all parameters and states costs more than many a step. A census explains the peak, and a step that did not raise the peak
        has nothing alive there. A small rise, as by losses in a list, does not count.
        """
        peak = sum(stats["allocated_peak_bytes"] for stats in self.stats.of_all())
        step = self._marks.step
        has_risen = peak > self._known_peak * _RISE
        is_due = has_risen or step <= _EVERY_STEP_UNTIL or step % _EVERY == 0 or step == self._env.steps
        if is_due:
            self._known_peak = peak
        return is_due

    def _note_oom(self) -> None:
        self.take_census("oom")
        if self._count_ooms() == 1:
            self._saved_at_oom = self._write_snapshot()

    def _count_ooms(self) -> int:
        """The number of times that the devices ran out of memory."""
        return sum(stats["ooms"] for stats in self.stats.of_all())

    @guarded
    def _write_snapshot(self) -> str | None:
        if not self._is_recorded:
            return None
        try:
            return history.write(self._env.run_dir, self._record_file.stem, self._positions)
        except OSError as error:
            say(f"cannot write the snapshot into {self._env.run_dir}: {error.strerror}")
            return None


class Calls(Part):
    """The program's own calls that manage memory."""

    def install(self, write: Write) -> None:
        """Records limits of the process, and variables that keep memory from `torch.cuda.empty_cache`."""
        limits.install(write)
        leftovers.install(write)
