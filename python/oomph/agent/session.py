"""The agent of one process: the parts in order, and the records of several parts together."""

import os
import sys
import time
from types import FrameType

import torch

from . import phantom, records
from .hooks import compiler
from .hooks.part import Hooks
from .host.part import Host
from .life.part import Life
from .memory.part import Calls, Memory
from .hooks.kernels import Overrides
from .part import Assumptions, Part
from .position.part import Operators, Position
from .process import environment, frames
from .process.ending import Ending
from .failure import guarded
from .process.finish import Finish, describe
from .process.part import Process
from .process.sight import Sight
from .ranks.part import Ranks
from .record_file import RecordFile
from .remedies import Remedies
from .scenery.part import Scenery
from .values.part import Answers


class Session:
    """The state of the agent."""

    def __init__(self, env: environment.Environment, remedies: Remedies, ending: Ending, sight: Sight) -> None:
        self.env = env
        self.is_first = env.is_first
        self.is_forked = False
        self.ending = ending
        self.sight = sight
        self.record_file = RecordFile(env.run_dir, env.rank)
        self.process = Process(env)
        self.position = Position(
            env,
            show=sight.move,
            first_forward=lambda _root: self.memory.take_census("forward"),
            after_forward=lambda: self.memory.end_forward(),
            before_step=lambda: self.memory.begin_step(),
            after_step=self._after_step,
            stop=self._stop,
        )
        self.life = Life(env, self.position)
        self.memory = Memory(env, self.position, self.record_file)
        self.finish = Finish(self._finish, self._note_stop)
        self.operators = Operators(env)
        assumptions, overrides, found = Assumptions(), Overrides(), guarded(phantom.find)()
        host, scenery = Host(env, found, overrides), Scenery(found)
        answers = Answers(env, found, overrides, step=lambda: self.position.marks.step, assume=assumptions.note)
        self.ranks = Ranks(found, assumptions.note)
        self._installed: tuple[Part, ...] = (
            self.process, self.memory, self.position, self.life, self.finish, Calls(), host, scenery, answers, self.ranks, self.operators, remedies,
        )  # fmt: skip
        # The order of the last records.
        self._finished: tuple[Part, ...] = (remedies, self.position, self.life, self.memory, assumptions, answers, host, scenery, Hooks())

    def install(self) -> None:
        """Connects all parts. CUDA stays untouched: parts that need CUDA wait until the program initialises CUDA."""
        self.sight.show_stack()
        compiler.install()
        for part in self._installed:
            guarded(part.install)(self._write_early)
        os.register_at_fork(after_in_child=self._forked)
        torch.cuda._lazy_call(self._cuda_started)

    def _write_early(self, record: dict) -> None:
        """The process record comes first, also where a remedy or a limit is noted before CUDA is initialised; a forked helper notes none."""
        if self.is_forked and not self.record_file.is_open:
            return
        if not self.record_file.is_open:
            self._write_process()
        self.record_file.write(record)

    @guarded
    def _write_process(self) -> None:
        self.record_file.write(self.process.describe())

    @guarded
    def _cuda_started(self) -> None:
        if not self.record_file.is_open:
            self._write_process()
        self.sight.show_stack()
        self.sight.show_position()
        for part in self._installed:
            guarded(part.attach)()

    @guarded
    def _forked(self) -> None:
        """Continues in a forked child: a child that never touches CUDA writes nothing, any other child is a process of its own."""
        self.is_first = False
        self.is_forked = True
        self.record_file.abandon()
        self.sight.reset()
        self.position.reset()
        self.memory.reset()
        self.finish.reset()

    @guarded
    def _after_step(self) -> None:
        self.memory.end_step()
        self.ranks.settle()
        if self.record_file.is_open:
            work, stats, steps = self.operators.so_far(), self.memory.stats, self.position.steps
            devices = stats.of_all()
            self.position.course.note_step(devices, sum(stats.position(it["device"]) for it in devices))
            record = records.step(step=steps.done, devices=devices, monotonic_ns=time.monotonic_ns(), backwards=self.position.backward.count, work=work, at=_line_of_step(), zeroed_at=steps.zeroed_at, loader=None)
            self.record_file.write(record)

    def _stop(self) -> None:
        self.finish.now("steps")
        self.ending.is_short = True

    @guarded
    def _note_stop(self, frame: FrameType | None) -> None:
        """The figures of this moment, before the snapshot: a long history takes its time, and the launcher may not wait for it."""
        if self.is_first and not self.record_file.is_open:
            self._write_process()
        if self.record_file.is_open:
            mark, devices = self.position.marks.text(), self.memory.stats.of_all()
            self.record_file.write(records.stop(mark=mark, devices=devices, frames=frames.stack(frame)))

    def _finish(self, reason: str, error: BaseException | None) -> None:
        """Writes the last records. Each part is guarded: a failure loses the records of one part."""
        uses_cuda = torch.cuda.is_initialized()
        # A helper process that never touched CUDA is not recorded; a rank that failed before touching CUDA is.
        if not uses_cuda and not self.is_first and (error is None or self.env.world_size == 1):
            return
        if not self.record_file.is_open:
            self._write_process()
        if error is not None:
            self._write_error(error)
        self.memory.take_census("end")
        for part in self._finished:
            guarded(part.finish)(reason, self.record_file.write)
        self._write_end(reason, self.memory.last_snapshot(reason) if uses_cuda else None)

    @guarded
    def _write_error(self, error: BaseException) -> None:
        self.record_file.write(describe(error))

    @guarded
    def _write_end(self, reason: str, snapshot: str | None) -> None:
        devices, now = self.memory.stats.of_all(), time.monotonic_ns()
        record = records.end(reason=reason, steps=self.position.steps.done, devices=devices, snapshot=snapshot, monotonic_ns=now)
        self.record_file.write(record)


def _line_of_step() -> tuple[str, int] | None:
    """The line of the running call of an optimizer's `step`; `None` if no line of the user's is on the stack."""
    file, line = frames.users_line(sys._getframe())
    return (file, line) if frames.is_users(file) else None


def start(remedies: Remedies, ending: Ending, sight: Sight) -> Session:
    """Starts the agent in this process; torch has just been imported."""
    session = Session(environment.read(), remedies, ending, sight)
    session.install()
    return session
