"""The agent of one process of a real run. See Note [Real runs]."""

import atexit
import dataclasses
import os
import pickle
import sys
import time
import weakref

import torch
from torch.optim import optimizer as optim

from .. import records, wire
from ..memory.oom import OutOfMemory
from ..memory.stats import Stats
from ..process import environment
from ..failure import divert, guarded, say
from ..process.finish import describe
from ..process.part import Process
from ..record_file import RecordFile
from ..remedies import Remedies
from .loader import LoaderClock
from .objects import Found, Places, Waiting
from .recorder import Recorder
from .trackers import TrackerRuns

# The least time between two records of steps, after the first steps, in seconds. A record takes some 0.1 ms; on a slow disk the time between two
# is so many times longer than the last one took, up to the longest pause.
_PAUSE = 0.25
_PAUSES_PER_RECORD = 200
_LONGEST_PAUSE = 5.0
_FIRST_STEPS = 3


class Session:
    """The state of the agent."""

    def __init__(self, env: environment.Environment, remedies: Remedies) -> None:
        self._env = env
        self._remedies = remedies
        # Records of remedies before CUDA; a process without CUDA leaves none.
        self._early: list[dict] = []
        self._process = Process(env)
        self._recorder = Recorder()
        self._record_file = RecordFile(env.run_dir, env.rank, self._recorder.reserve)
        self._stats = Stats()
        self._loader = LoaderClock()
        self._trackers = TrackerRuns()
        self._marks = Places()
        self._counts: weakref.WeakKeyDictionary[torch.optim.Optimizer, int] = weakref.WeakKeyDictionary()
        self._steps = 0
        self._is_child = False
        # The earliest time of the next record of a step.
        self._next_record = 0.0
        # The devices whose free memory is recorded.
        self._with_free: set[int] = set()
        self._found = Found(self._marks)
        self._oom = OutOfMemory(self._marks, self._record_file, self._stats, Waiting(), self._found, self._note_oom)

    def install(self) -> None:
        """Waits for CUDA, for steps and for the end."""
        divert(self._note_gap)
        self._stats.install()
        guarded(self._loader.install)()
        optim.register_optimizer_step_post_hook(self._step_done)
        atexit.register(self._at_exit)
        os.register_at_fork(after_in_child=self._forked)
        torch.cuda._lazy_call(self._cuda_started)
        guarded(self._remedies.install)(self._write_early)

    def _note_gap(self, text: str) -> None:
        """Notes a failure, for those who read the recording: standard error is the program's."""
        self._write_early(records.gap(text=text))

    def _write_early(self, record: dict) -> None:
        """The process record comes first, and is written when the program initialises CUDA."""
        if self._record_file.is_open:
            self._record_file.write(record)
        else:
            self._early.append(record)

    @guarded
    def _cuda_started(self) -> None:
        if self._record_file.is_open:
            return
        self._open_records()
        if self._is_child:
            # A forked child leaves with `os._exit`; `multiprocessing` runs its own finalizers before.
            from multiprocessing import util

            util.Finalize(None, self._at_exit, exitpriority=-100)
        for record in self._early:
            self._record_file.write(record)
        self._early.clear()
        self._stats.attach()
        Stats.running = self._stats
        problem = self._recorder.start(os.path.join(self._env.run_dir, self._record_file.stem + wire.RECORDING))
        if problem is not None:
            self._record_file.write(records.unrecorded(reason=problem))
        else:
            Recorder.running = self._recorder
        for device in range(torch.cuda.device_count()):
            self._write_gpu(device, None)
        self._oom.attach()

    def _open_records(self) -> None:
        """Writes the first record. A worker may have set its rank since the import of torch."""
        env = environment.read_in(self._env.run_dir)
        self._env = dataclasses.replace(env, rank=_find_rank(env.rank))
        self._process = Process(self._env)
        self._record_file.rank = self._env.rank
        self._record_file.write(self._process.describe())

    @guarded
    def _write_gpu(self, device: int, free: int | None) -> None:
        known = torch.cuda._get_device_properties(device)
        self._record_file.write(records.gpu(device=device, name=known.name, total_bytes=known.total_memory, free_bytes=free))

    @guarded
    def _write_free(self, devices: list[dict]) -> None:
        """The free memory of the devices that the program uses, once for each."""
        for stats in devices:
            device = stats["device"]
            if device not in self._with_free and stats["reserved_bytes"]:
                self._with_free.add(device)
                self._write_gpu(device, torch.cuda.mem_get_info(device)[0] + stats["reserved_bytes"])

    @guarded
    def _write_trackers(self) -> None:
        """The runs of trackers, before the record of a step: `oomph run --log-to` waits for it."""
        for record in self._trackers.list_new():
            self._record_file.write(record)

    @guarded
    def _forked(self) -> None:
        """A forked child cannot use the parent's CUDA: the recording is the parent's."""
        self._early.clear()
        self._is_child = True
        self._recorder.stop()
        self._record_file.abandon()
        atexit.unregister(self._at_exit)

    def _step_done(self, optimizer: torch.optim.Optimizer, _args, _kwargs) -> None:
        if not torch.compiler.is_compiling():
            self._count(optimizer)

    @guarded
    def _count(self, optimizer: torch.optim.Optimizer) -> None:
        done = self._counts[optimizer] = self._counts.get(optimizer, 0) + 1
        if done <= self._steps:
            return
        self._steps = done
        self._marks.step_done(done)
        self._recorder.set_step(done + 1)
        now = time.monotonic()
        if self._record_file.is_open and (done <= _FIRST_STEPS or now >= self._next_record):
            devices = self._stats.of_all()
            self._write_free(devices)
            self._write_trackers()
            record = records.step(
                step=done,
                devices=devices,
                monotonic_ns=time.monotonic_ns(),
                backwards=0,
                work=None,
                at=None,
                zeroed_at=None,
                loader=self._loader.describe(),
            )
            self._record_file.write(record)
            self._next_record = now + self._find_pause(time.monotonic() - now)

    def _find_pause(self, seconds: float) -> float:
        """The pause after a record of so many seconds. The reserve is small: there are as few records as anybody waits for."""
        is_slow = self._record_file.is_lost
        return _LONGEST_PAUSE if is_slow else min(max(_PAUSE, _PAUSES_PER_RECORD * seconds), _LONGEST_PAUSE)

    def _note_oom(self) -> None:
        """The state of the program at an out-of-memory error."""
        self._write_free(self._stats.of_all())
        self._take_census()
        self._write_dump()

    @guarded
    def _take_census(self) -> None:
        tensors = self._found.census.take()
        self._record_file.write(records.census(number=self._marks.next_census(), step=self._marks.step, when="oom", tensors=tensors))

    @guarded
    def _write_dump(self) -> None:
        """Writes PyTorch's segments and blocks, whole or not at all."""
        events = self._recorder.count()
        path = os.path.join(self._env.run_dir, self._record_file.stem + wire.SNAPSHOT)
        if error := self._recorder.save(path, pickle.dumps(_segments())):
            say(f"PyTorch's segments at the error: cannot write {path}: {os.strerror(error)}")
            return
        self._record_file.write(records.dump(events=events, step=self._marks.step))

    @guarded
    def _at_exit(self) -> None:
        error = getattr(sys, "last_value", None)
        if not self._record_file.is_open:
            if type(error).__name__ != "ProcessRaisedException":
                return
            # The parent of workers raises their error again.
            self._open_records()
        if error is not None:
            self._record_file.write(describe(error))
        for row in self._oom.surroundings:
            self._record_file.write(row)
        guarded(self._remedies.finish)("exit", self._record_file.write)
        devices = self._stats.of_all()
        self._write_free(devices)
        reason = "exit" if error is None else "interrupt" if isinstance(error, KeyboardInterrupt) else "exception"
        record = records.end(
            reason=reason, steps=self._steps, devices=devices, snapshot=None, monotonic_ns=time.monotonic_ns()
        )
        self._record_file.write(record)


def _find_rank(stated: int) -> int:
    """The rank by `torch.distributed`, else by the environment, else by the number of a worker of `multiprocessing`."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank()
    worker = sys.modules.get("multiprocessing.process")
    numbers = worker.current_process()._identity if worker else ()
    is_named = any(name in os.environ for name in ("RANK", "LOCAL_RANK"))
    return stated if is_named or not numbers else numbers[-1] - 1


def _segments() -> dict:
    """The segments and settings, without the program's own history, which PyTorch would take seconds to turn into texts."""
    try:
        snapshot = torch._C._cuda_memorySnapshot((0, 0, False))
    except (TypeError, RuntimeError, IndexError):
        # Before 2.11 there is no such choice.
        snapshot = torch._C._cuda_memorySnapshot(None)
    return {"segments": snapshot["segments"], "device_traces": [], "allocator_settings": snapshot.get("allocator_settings", {})}


def start(folder: str, remedies: Remedies) -> None:
    """Starts the agent in this process; torch has just been imported."""
    Session(environment.read_in(folder), remedies).install()
