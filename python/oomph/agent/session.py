"""The agent of one process: its parts, and the records of each moment of the program's life."""

import os
import platform
import sys
import time
import typing

import torch

from . import phantom, records
from .host.checkpoints import moves
from .host.checkpoints.guard import CheckpointGuard
from .host.checkpoints.removals import Removals
from .host.checkpoints.saves import Saves
from .host.checkpoints.unread import Checkpoints
from .host.holes import Holes
from .host.initializers import Initializers
from .host.outside import acts
from .memory import history, leftovers, limits
from .memory.census import Census
from .memory.living import Living
from .memory.oom import OutOfMemory
from .memory.positions import Positions
from .memory.stats import Stats
from .overrides import Overrides
from .position.backward import Backward
from .position.course import Course
from .position.marks import Marks
from .position.modules import Modules
from .position.steps import Steps
from .process import environment, frames, lineage
from .process.ending import Ending
from .process.failure import guarded, say
from .process.finish import Finish, describe
from .process.kernels import has_kernels
from .ranks import absent_ranks, job_rank
from .record_file import RecordFile
from .remedies import Remedies
from .values.generation import Generation
from .values.values import Values

if typing.TYPE_CHECKING:
    from .position.work import Work

# The steps with a census though the peak has not risen: the first steps, and every 25th.
_EVERY_STEP_UNTIL = 3
_EVERY = 25
# By how much the peak must rise for a census of its own.
_RISE = 1 + 1 / 1024


class Session:
    """The state of the agent."""

    def __init__(self, env: environment.Environment, remedies: Remedies, ending: Ending) -> None:
        self.env = env
        self.is_first = env.is_first
        self.is_forked = False
        # True if PyTorch records a history.
        self.is_recorded = True
        self.marks = Marks()
        self.record_file = RecordFile(env.run_dir, env.rank)
        self.stats = Stats()
        self.positions = Positions(self.stats)
        self.backward = Backward(self.marks)
        self.modules = Modules(self.marks, first_forward=lambda _root: self._take_census("forward"))
        self.course = Course(env.steps, env.more_steps if env.world_size == 1 else 0, looks=env.history)
        self.steps = Steps(self.marks, self.course, before=self._before_step, after=self._after_step, stop=self._stop)
        self.census = Census(self.modules, self.steps.optimizers)
        self.living = Living(self.modules, self.census)
        self.oom = OutOfMemory(self.marks, self.record_file, self.stats, self.backward, self.living, self._note_oom)
        self.finish = Finish(self._finish)
        self.ending = ending
        self.overrides = Overrides()
        self.remedies = remedies
        self.initializers: Initializers | None = None
        self.checkpoints: Checkpoints | None = None
        self.guard: CheckpointGuard | None = None
        self.values: Values | None = None
        self.work: Work | None = None
        self._known_peak = 0
        # The assumptions, by their stable names.
        self._assumptions: dict[str, str] = {}
        # Waits after a step, before memory is counted.
        self._settle = lambda: None
        # The snapshot saved at the first out of memory, while the program has made no step since.
        self._saved_at_oom: str | None = None

    def install(self) -> None:
        """Connects all parts. CUDA stays untouched: parts that need CUDA wait until the program initialises CUDA."""
        for part in (self.stats, self.modules, self.backward, self.steps, self.finish):
            guarded(part.install)()
        limits.install(self._write_early)
        leftovers.install(self._write_early)
        self._install_phantoms_parts()
        self._install_work()
        guarded(self.remedies.install)(self._write_early)
        os.register_at_fork(after_in_child=self._forked)
        torch.cuda._lazy_call(self._cuda_started)

    @guarded
    def _install_phantoms_parts(self) -> None:
        found = phantom.find()
        if found is not None:
            self._install_host_parts(found)
            self.values = Values(found, self.env.fraction, step=lambda: self.marks.step)
            self.values.install(self.overrides)
            Generation(self._assume).install()
            self._install_ranks(found)

    @guarded
    def _install_work(self) -> None:
        if self.env.work:
            from .position.work import Work

            self.work = Work()
            self.work.install()

    def _install_ranks(self, found: phantom.Phantom) -> None:
        if not torch.distributed.is_available():
            return
        from .ranks import groups, integers, objects

        rank = job_rank.read_requested()
        groups.install(found)
        objects.install(rank is not None, self._assume)
        if rank is not None:
            absent_ranks.install(rank, self._assume)
        else:
            integers.install()
        self._settle = groups.settle

    def _write_early(self, record: dict) -> None:
        """The process record comes first, also where a remedy or a limit is noted before CUDA is initialised; a forked helper notes none."""
        if self.is_forked and not self.record_file.is_open:
            return
        if not self.record_file.is_open:
            self._write_process()
        self.record_file.write(record)

    def _assume(self, name: str, text: str) -> None:
        self._assumptions[name] = text

    def _install_host_parts(self, found: phantom.Phantom) -> None:
        holes = Holes(found)
        self.initializers, self.checkpoints, self.guard = Initializers(holes), Checkpoints(), CheckpointGuard()
        holes.install(self.overrides)
        self.initializers.install(self.overrides)
        self.checkpoints.install()
        if self.env.has_file_guard:
            moves.install()
        else:
            Saves(self.guard).install()
            Removals(self.guard).install()

    @guarded
    def _cuda_started(self) -> None:
        if not self.record_file.is_open:
            self._write_process()
        self.stats.attach()
        self._note_missing_kernels()
        self._record_history()
        if self.is_forked:
            self.finish.install_in_child()

    @guarded
    def _note_missing_kernels(self) -> None:
        """PyTorch warns of a GPU without kernels in the program's output, which a check does not show."""
        # All devices of a run are alike. The public function counts devices first, by NVML.
        device, built_for = torch.cuda._get_device_properties(0), torch.cuda.get_arch_list()
        capability = device.major, device.minor
        if not has_kernels(capability, built_for):
            self.record_file.write(records.kernels_missing(capability="%d.%d" % capability, built_for=" ".join(built_for)))

    def _record_history(self) -> None:
        """Starts PyTorch's history. PyTorch records its own allocator only, and raises for others."""
        if not self.env.history:
            self.is_recorded = False
            self.oom.attach()
            return
        try:
            history.record()
        except RuntimeError as error:
            self.is_recorded = False
            self.record_file.write(records.unrecorded(reason=str(error)))
            return
        self.marks.attach(self.positions.setter())
        self.oom.attach()

    @guarded
    def _forked(self) -> None:
        """Continues in a forked child: a child that never touches CUDA writes nothing, any other child is a process of its own."""
        self.is_first = False
        self.is_forked = True
        self.record_file.abandon()
        self.marks.reset()
        self.positions.reset()
        self.steps.reset()
        self.finish.reset()

    @guarded
    def _write_process(self) -> None:
        record = records.process(
            pid=os.getpid(),
            rank=self.env.rank,
            local_rank=self.env.local_rank,
            world_size=self.env.world_size,
            argv=sys.argv,
            script_dir=self.env.script_dir,
            python=platform.python_version(),
            executable=sys.executable or "",
            torch=torch.__version__,
            cuda=torch.version.cuda,
            cudnn=_cudnn_version(),
            started_ns=lineage.process_start_ns(),
            ancestors=lineage.list_ancestors(),
            monotonic_ns=time.monotonic_ns(),
        )
        self.record_file.write(record)

    @guarded
    def _take_census(self, when: str) -> None:
        if torch.cuda.is_initialized() and self.env.history:
            tensors = self.census.take()
            record = records.census(number=self.marks.next_census(), step=self.marks.step, when=when, tensors=tensors)
            self.record_file.write(record)

    @guarded
    def _before_step(self) -> None:
        if self._is_census_due():
            self._take_census("optimizer")

    def _is_census_due(self) -> bool:
        """True if this step's gradients may matter: the peak has risen since the last census, or the step is early, the last, or a 25th.

        Walking all parameters and states costs more than many a step. A census explains the peak, and a step that did not raise the peak
        has nothing alive there. A small rise, as by losses in a list, does not count.
        """
        peak = sum(stats["allocated_peak_bytes"] for stats in self.stats.of_all())
        step = self.marks.step
        has_risen = peak > self._known_peak * _RISE
        is_due = has_risen or step <= _EVERY_STEP_UNTIL or step % _EVERY == 0 or step == self.env.steps
        if is_due:
            self._known_peak = peak
        return is_due

    @guarded
    def _after_step(self) -> None:
        self._saved_at_oom = None
        self._settle()
        if self.record_file.is_open:
            work = None if self.work is None else self.work.so_far()
            devices = self.stats.of_all()
            self.course.note_step(devices, sum(self.stats.position(it["device"]) for it in devices))
            record = records.step(step=self.steps.done, devices=devices, monotonic_ns=time.monotonic_ns(), work=work, at=_line_of_step(), zeroed_at=self.steps.zeroed_at)
            self.record_file.write(record)

    def _stop(self) -> None:
        self.finish.now("steps")
        self.ending.is_short = True

    def _note_oom(self) -> None:
        self._take_census("oom")
        if self._ooms() == 1:
            self._saved_at_oom = self._write_snapshot()

    def _ooms(self) -> int:
        """The number of times that the devices ran out of memory."""
        return sum(stats["ooms"] for stats in self.stats.of_all())

    @guarded
    def _write_snapshot(self) -> str | None:
        if not self.is_recorded:
            return None
        try:
            return history.write(self.env.run_dir, self.record_file.stem, self.positions)
        except OSError as error:
            say(f"cannot write the snapshot into {self.env.run_dir}: {error.strerror}")
            return None

    def _finish(self, reason: str, error: BaseException | None) -> None:
        """Writes the last records, each guarded: a failure loses no other record."""
        uses_cuda = torch.cuda.is_initialized()
        # A helper process that never touched CUDA is not recorded; a rank that failed before touching CUDA is.
        if not uses_cuda and not self.is_first and (error is None or self.env.world_size == 1):
            return
        if not self.record_file.is_open:
            self._write_process()
        if error is not None:
            self._write_error(error)
        self._take_census("end")
        guarded(self.remedies.finish)()
        self._write_untrained()
        self._write_ahead(reason)
        self._write_surroundings()
        self._write_assumptions()
        self._write_outside()
        self._write_end(reason, self._last_snapshot(reason) if uses_cuda else None)

    @guarded
    def _write_error(self, error: BaseException) -> None:
        self.record_file.write(describe(error))

    def _last_snapshot(self, reason: str) -> str | None:
        """The snapshot at the end; the one of the out of memory that ended the program is not written twice."""
        if reason == "exception" and self._saved_at_oom is not None and self._ooms() == 1:
            return self._saved_at_oom
        return self._write_snapshot()

    @guarded
    def _write_untrained(self) -> None:
        for row in self.steps.list_untrained():
            self.record_file.write(row)

    @guarded
    def _write_ahead(self, reason: str) -> None:
        for row in self.course.list_records() if reason == "steps" else ():
            self.record_file.write(row)
        place = self.steps.find_unstepped() if reason == "exit" else None
        if place is not None:
            self.record_file.write(records.ahead(reason="unstepped", what="", file=place[0], line=place[1], shares_line=False))

    @guarded
    def _write_surroundings(self) -> None:
        for row in self.oom.surroundings or self.living.list_roots():
            self.record_file.write(row)

    @guarded
    def _write_assumptions(self) -> None:
        for name, text in self._assumptions.items():
            self.record_file.write(records.assumption(id=name, text=text))
        if self.values is not None:
            self.values.finish(self.record_file)
        if self.initializers is not None and self.initializers.count:
            record = records.initializers_skipped(count=self.initializers.count, bytes=self.initializers.bytes)
            self.record_file.write(record)
        if self.checkpoints is not None and self.checkpoints.count:
            self.record_file.write(records.checkpoint_unread(count=self.checkpoints.count, bytes=self.checkpoints.bytes))
        self._write_saves()

    def _write_saves(self) -> None:
        if self.guard is None:
            return
        for path in self.guard.spared:
            self.record_file.write(records.save_spared(file=path))
        for path in self.guard.list_written():
            self.record_file.write(records.save_made(file=path))

    @guarded
    def _write_outside(self) -> None:
        for row in acts.list_records():
            self.record_file.write(row)

    @guarded
    def _write_end(self, reason: str, snapshot: str | None) -> None:
        devices, now = self.stats.of_all(), time.monotonic_ns()
        record = records.end(reason=reason, steps=self.steps.done, devices=devices, snapshot=snapshot, monotonic_ns=now)
        self.record_file.write(record)


def _line_of_step() -> tuple[str, int] | None:
    """The line of the running call of an optimizer's `step`; `None` if no line of the user's is on the stack."""
    file, line = frames.users_line(sys._getframe())
    return (file, line) if frames.is_users(file) else None


def _cudnn_version() -> int | None:
    cudnn = getattr(torch._C, "_cudnn", None)
    return None if cudnn is None else int(cudnn.getVersionInt())


def start(remedies: Remedies, ending: Ending) -> Session:
    """Starts the agent in this process; torch has just been imported."""
    session = Session(environment.read(), remedies, ending)
    session.install()
    return session
