"""The protocol between `oomph sweep` and its engines: requests, events, and the run of one task. See Note [Engines].

This module imports nothing of oomph: Ray copies its functions to nodes that may have no oomph.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TextIO

# A worker must not outlive its parent: Ray's memory monitor kills a parent to free the memory of the worker. The kernel sends SIGTERM (15)
# to the worker when its parent ends (`PR_SET_PDEATHSIG` is 1 in linux/prctl.h). A `preexec_fn` could deadlock among Ray's threads.
_TETHER = (
    "import ctypes, os, sys; parent = int(sys.argv[1]); ctypes.CDLL(None).prctl(1, 15);"
    " os.getppid() == parent or sys.exit('the parent has ended'); os.execvpe(sys.argv[2], sys.argv[2:], os.environ)"
)
# The prefixes of variables that describe a job of the cluster. Both systems also hide the GPUs of the node from a task that reserved none.
_CLUSTER_PREFIXES = "RAY_", "SLURM_", "CUDA_VISIBLE_DEVICES"
# The configuration file is no fact about a job: a script may call `squeue`.
_CONFIGURATION = "SLURM_CONF"
# The time for a worker to end its program after SIGTERM, in seconds.
_PATIENCE_SECONDS = 20
# The stream of events.
_events: TextIO = sys.stdout
_A_DAY_SECONDS = 86400


class EngineError(Exception):
    """The engine cannot work at all; the message is one sentence."""


class TaskFailed(Exception):
    """A task ended without an answer; the message is one sentence."""


class TaskKilled(TaskFailed):
    """A signal ended the worker, perhaps for want of memory: another try may succeed."""


@dataclass(frozen=True)
class Request:
    """A request: Note [Engines]."""

    argv: list[str]
    cwd: str
    tasks: list[str]
    folder: str
    env: dict[str, str] = field(default_factory=dict)
    address: str = "auto"
    host_bytes: int = 0
    cpus: int = 1
    options: list[str] = field(default_factory=list)


def read_request(text: str) -> Request:
    """The request in a JSON text. Unknown keys are of a newer command, and ignored."""
    document = json.loads(text)
    return Request(**{name: document[name] for name in Request.__dataclass_fields__ if document.get(name) is not None})


def emit(kind: str, **fields: Any) -> None:
    """Writes an event, at once."""
    _events.write(json.dumps({"kind": kind, **fields}) + "\n")
    _events.flush()


def run_engine(engine: Callable[[Request], None]) -> int:
    """Runs an engine on the request in the standard input; returns the exit status."""
    global _events
    # Only events go to the standard output: Ray prints remarks of its own there, and they join the messages for a person.
    _events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        engine(read_request(sys.stdin.read()))
    except EngineError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def run_task(argv: list[str], cwd: str, env: Mapping[str, str], task: str, errors: BinaryIO | None = None) -> dict[str, Any]:
    """Runs a worker; returns the fields of the event `done`. Raises `TaskFailed` if the task has no answer.

    `errors` is a file, open for reading and appending, that takes the worker's standard error. No stream is a pipe: a process that the
    script leaves behind may keep a pipe open for ever.
    """
    if not Path(cwd).is_dir():
        raise TaskFailed(f"the folder {cwd} is not on node {_read_node()}: a shared file system is needed")
    began = time.monotonic()
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as output, errors or tempfile.TemporaryFile() as messages:
        given.write(task.encode())
        given.seek(0)
        start = messages.seek(0, os.SEEK_END)
        command = [sys.executable, "-c", _TETHER, str(os.getpid()), *argv]
        status = _wait(subprocess.Popen(command, stdin=given, stdout=output, stderr=messages, cwd=cwd, env=_list_variables(env)))
        if status != 0:
            raise _read_failure(status, _read_from(messages, start))
        lines = [line for line in _read_from(output, 0).splitlines() if line.strip()]
    return {"lines": lines, "seconds": round(time.monotonic() - began, 3), "worker": _read_node()}


def _read_node() -> str:
    """The name of this node. A host may be several nodes of Slurm."""
    return os.environ.get("SLURMD_NODENAME") or platform.node()


def _list_variables(env: Mapping[str, str]) -> dict[str, str]:
    """The environment of a worker."""
    own = {name: value for name, value in os.environ.items() if name == _CONFIGURATION or not name.startswith(_CLUSTER_PREFIXES)}
    return own | dict(env)


def _wait(process: subprocess.Popen[bytes]) -> int:
    """The exit status of a worker; an interrupt ends the worker first, and so its program."""
    try:
        # A wait with a limit polls: Ray cancels a task by an interrupt that wakes no system call.
        while process.poll() is None:
            _wait_for(process, _A_DAY_SECONDS)
    except BaseException:
        process.terminate()
        _wait_for(process, _PATIENCE_SECONDS)
        process.kill()
        raise
    return process.returncode


def _wait_for(process: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        pass


def _read_failure(status: int, messages: str) -> TaskFailed:
    """The error of a worker that ended with a status other than 0, or by a signal."""
    lines = [line.strip() for line in messages.splitlines() if line.strip()]
    end = f": {lines[-1]}" if lines else ", with nothing on its standard error"
    if status < 0:
        name = signal.Signals(-status).name if -status in set(signal.Signals) else f"signal {-status}"
        return TaskKilled(f"the worker was killed by {name} on node {_read_node()}{end if lines else ''}")
    return TaskFailed(f"the worker ended with status {status} on node {_read_node()}{end}")


def _read_from(file: BinaryIO, start: int) -> str:
    """The text of a file after a position. A program may print bytes that are no text."""
    file.seek(start)
    return file.read().decode(errors="replace")
