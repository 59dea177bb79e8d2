"""The program's position, as a part of the session."""

import typing
from collections.abc import Callable

from .. import records
from ..ahead.taken import Taken
from ..part import Part, Write
from ..process.environment import Environment
from ..failure import guarded
from .backward import Backward
from .course import Course
from .marks import Marks
from .modules import Modules
from .steps import Steps

if typing.TYPE_CHECKING:
    from .work import Work


class Position(Part):
    """Step, phase and module, and what is still ahead at the end."""

    def __init__(
        self,
        env: Environment,
        show: Callable[[str], object],
        first_forward: Callable[[object], object],
        after_forward: Callable[[], object],
        before_step: Callable[[], object],
        after_step: Callable[[], object],
        stop: Callable[[], object],
    ) -> None:
        self.marks = Marks(show)
        self.backward = Backward(self.marks)
        self.modules = Modules(self.marks, first_forward=first_forward, after_forward=after_forward)
        taken = Taken() if env.history and env.steps else None
        self.course = Course(env.steps, env.more_steps if env.world_size == 1 else 0, looks=env.history, taken=taken)
        self.steps = Steps(self.marks, self.course, before=before_step, after=after_step, stop=stop)

    def install(self, write: Write) -> None:
        """Hooks modules, backward passes and optimizers."""
        self.backward.write = write
        for part in (self.modules, self.backward, self.steps):
            guarded(part.install)()

    def reset(self) -> None:
        """Starts afresh, in a forked child."""
        self.marks.reset()
        self.steps.reset()

    def count_work(self) -> int:
        """The calls of models and the backward passes so far."""
        return self.modules.call_count + self.backward.count

    def finish(self, reason: str, write: Write) -> None:
        """The records of untrained parameters, and of the rest of a stopped program."""
        self._write_untrained(write)
        self._write_ahead(reason, write)

    @guarded
    def _write_untrained(self, write: Write) -> None:
        for row in self.steps.list_untrained():
            write(row)

    @guarded
    def _write_ahead(self, reason: str, write: Write) -> None:
        for row in self.course.list_records() if reason == "steps" else self.course.list_undecided():
            write(row)
        place = self.steps.find_unstepped() if reason == "exit" else None
        if place is not None:
            write(records.ahead(reason="unstepped", what="", file=place[0], line=place[1], shares_line=False))


class Operators(Part):
    """The work of operators, counted if the launcher asks; the counter is imported only then."""

    def __init__(self, env: Environment) -> None:
        self._is_wanted = env.work
        self._work: Work | None = None

    def install(self, write: Write) -> None:
        """Counts from now on."""
        if self._is_wanted:
            from .work import Work

            self._work = Work()
            self._work.install()

    def so_far(self) -> dict | None:
        """The sums; `None` if nothing is counted."""
        return None if self._work is None else self._work.so_far()
