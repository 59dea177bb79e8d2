"""Runs the tasks of a sweep as an array job of Slurm: `python -m oomph.engines.slurm_engine`. See Note [Engines].

Needs the commands of a login node, `sbatch`, `squeue` and `scancel`, and a folder that the nodes share. `sacct` is asked only about a task
that `squeue` has forgotten: many clusters have no accounting. The files are those of Note [Files of an array job] in `slurm_task`.
"""

from __future__ import annotations

import json
import pickle
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

from .protocol import EngineError, Request, emit, run_engine
from .slurm_task import DelayedSubmission, run_points, write_atomically

# The most tasks of an array that run at once, as in submitit.
_PARALLEL_TASKS = 256
_POLL_SECONDS = 1.0
# The queue is a service that all users share: it is asked less often than the folder.
_QUEUE_SECONDS = 5.0
# The time for a file to appear through a network file system after its task has ended, as in submitit (`_results_timeout_s`).
_GRACE_SECONDS = 15.0
# The time that a controller may take for a restart.
_SILENCE_SECONDS = 600.0
# States of squeue(1) in which a task may still answer. All others are ends.
_OPEN_STATES = {
    "PENDING", "CONFIGURING", "RUNNING", "SUSPENDED", "STOPPED", "COMPLETING", "RESIZING", "REQUEUED", "REQUEUE_FED", "SIGNALING", "STAGE_OUT",
}  # fmt: skip
# A task in this state waits for an administrator, not for a node.
_HELD = "launch failed requeued held"
_FORGOTTEN = "FORGOTTEN"


def run(request: Request) -> None:
    """Submits the array job, and emits the events of its tasks."""
    if shutil.which("sbatch") is None:
        raise EngineError("`sbatch` is not on the search path: is this a Slurm login node?")
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    folder = Path(request.folder).absolute() / "slurm"
    folder.mkdir(exist_ok=True)
    job = submit(request, folder)
    emit("started", tasks=len(request.tasks), where=f"Slurm job {job}, {len(request.tasks)} task{'s' * (len(request.tasks) != 1)}")
    array = ArrayJob(job, folder, len(request.tasks))
    try:
        array.collect(stop)
    finally:
        # Also after an error, such as a closed output: nobody would read the answers.
        if array.open_tasks:
            ask("scancel", job)
    emit("end")


def submit(request: Request, folder: Path) -> str:
    """Writes the files of the array job and submits it; returns its id."""
    work = {"argv": request.argv, "cwd": request.cwd, "env": request.env, "tasks": request.tasks}
    # A name of its own: in a sweep that is run again, tasks of an earlier job may still wait.
    mark = uuid.uuid4().hex
    tasks_file, script = folder / f"tasks_{mark}.json", folder / f"submission_file_{mark}.sh"
    write_atomically(tasks_file, json.dumps(work).encode())
    write_atomically(script, write_script(request, tasks_file).encode())
    submitted = ask("sbatch", "--parsable", *request.options, str(script))
    if submitted.returncode != 0:
        raise EngineError(f"Slurm refused the job: {last_line(submitted.stderr).removeprefix('sbatch: error: ')}")
    # `--parsable` prints ID or ID;CLUSTER.
    job = submitted.stdout.strip().split(";")[0]
    # submitit leaves the same link.
    script.rename(folder / f"{job}_submission.sh")
    script.symlink_to(folder / f"{job}_submission.sh")
    for index in range(len(request.tasks)):
        submission = DelayedSubmission(run_points, (str(tasks_file), index), {})
        write_atomically(folder / f"{job}_{index}_submitted.pkl", pickle.dumps(submission))
    return job


def write_script(request: Request, tasks_file: Path) -> str:
    """The batch script. Options of the user stand on the command line of `sbatch`, and so win."""
    # In names of files, sbatch replaces words that start with a percent sign.
    log = str(tasks_file.parent).replace("%", "%%") + "/%A_%a_0_log"
    last = len(request.tasks) - 1
    options = {
        "job-name": "oomph-sweep", "array": f"0-{last}%{min(last + 1, _PARALLEL_TASKS)}", "output": f"{log}.out", "error": f"{log}.err",
        "open-mode": "append", "cpus-per-task": request.cpus, "mem": f"{-(-request.host_bytes // (1 << 20))}M",
    }  # fmt: skip
    lines = ["#!/bin/bash", "", *(f"#SBATCH --{name}={shlex.quote(str(value))}" for name, value in options.items()), "#SBATCH --requeue", ""]
    # The worker gets the other variables of the request from the tasks file: one of them could change the Python that reads that file.
    if "PYTHONPATH" in request.env:
        lines.append(f"export PYTHONPATH={shlex.quote(request.env['PYTHONPATH'])}")
    lines.append(f"exec {shlex.join([sys.executable, '-m', 'oomph.engines.slurm_task', str(tasks_file)])}")
    return "\n".join(lines) + "\n"


class ArrayJob:
    """A submitted array job, and its tasks without an event."""

    def __init__(self, job: str, folder: Path, tasks: int) -> None:
        self.job, self.folder = job, folder
        self.open_tasks = set(range(tasks))
        # The moment at which an open task was first seen in an end state.
        self.ended_since: dict[int, float] = {}
        self.answered_at = time.monotonic()
        self.asked_at = 0.0

    def collect(self, stop: threading.Event) -> None:
        """Emits the answers as they come, until no task is open or a signal came."""
        self.report_answers()
        while self.open_tasks and not stop.wait(_POLL_SECONDS):
            self.report_answers()
            if time.monotonic() - self.asked_at >= _QUEUE_SECONDS:
                self.asked_at = time.monotonic()
                self.report_ended()
        self.report_answers()

    def report_answers(self) -> None:
        """Emits the event of every open task with an answer. Listing the folder refreshes the cache of a network file system."""
        names = {path.name for path in self.folder.iterdir()}
        for index in sorted(self.open_tasks):
            name = f"{self.job}_{index}_answer.json"
            if name in names:
                answer = json.loads((self.folder / name).read_text(encoding="utf-8"))
                self.report(index, "lost" if "why" in answer else "done", answer)

    def report(self, index: int, kind: str, fields: dict) -> None:
        """Emits the event of a task, which is then no longer open."""
        self.open_tasks.discard(index)
        emit(kind, task=index, **fields)

    def report_ended(self) -> None:
        """Emits the loss of tasks that have ended and gave no answer in time."""
        states = read_queue(self.job)
        now = time.monotonic()
        if states is None:
            if now - self.answered_at > _SILENCE_SECONDS:
                for index in sorted(self.open_tasks):
                    self.report(index, "lost", {"why": f"the Slurm controller has not answered for {_SILENCE_SECONDS / 60:.0f} minutes"})
            return
        self.answered_at = now
        ended = {index: states.get(index, (_FORGOTTEN, "", "")) for index in self.open_tasks if not is_open(states, index)}
        self.ended_since = {index: self.ended_since.get(index, now) for index in ended}
        for index in sorted(ended):
            if now - self.ended_since[index] >= _GRACE_SECONDS:
                self.report(index, "lost", {"why": self.explain(index, *ended[index])})

    def explain(self, index: int, state: str, reason: str, node: str) -> str:
        """The reason why a task has no answer, as far as Slurm and the log tell."""
        if state == _FORGOTTEN:
            state = read_account(self.job, index) or "with a state that Slurm no longer knows"
        where = f" on node {node}" if node else ""
        why = f" ({reason})" if reason not in ("", "None") else ""
        log = self.folder / f"{self.job}_{index}_0_log.err"
        if not log.exists() and node:
            return f"the array task ended {state}{where}{why} and wrote no log: does the node share the folder {self.folder}?"
        end = last_line(log.read_text(encoding="utf-8", errors="replace")) if log.exists() else ""
        return f"the array task ended {state}{where}{why} without an answer" + (f": {end}" if end else "")


def is_open(states: dict[int, tuple[str, str, str]], index: int) -> bool:
    """True if a task may still answer."""
    state, reason, _ = states.get(index, (_FORGOTTEN, "", ""))
    return state in _OPEN_STATES and reason != _HELD


def read_queue(job: str) -> dict[int, tuple[str, str, str]] | None:
    """State, reason and node of each task that Slurm remembers; `None` if the controller does not answer."""
    asked = ask("squeue", "--states=all", "--array", "--noheader", "--format=%K|%T|%r|%N", f"--jobs={job}")
    if asked.returncode != 0:
        # The controller forgets a job `MinJobAge` after its end, by default 300 seconds.
        return {} if "Invalid job id" in asked.stderr else None
    rows = [line.split("|") for line in asked.stdout.splitlines() if line.count("|") == 3]
    return {int(index): (state, reason, node) for index, state, reason, node in rows if index.isdigit()}


def read_account(job: str, index: int) -> str:
    """The state of a task in the accounting; empty without one."""
    if shutil.which("sacct") is None:
        return ""
    asked = ask("sacct", "--noheader", "--parsable2", "--allocations", "--format=State", f"--jobs={job}_{index}")
    return last_line(asked.stdout) if asked.returncode == 0 else ""


def ask(*command: str) -> subprocess.CompletedProcess[str]:
    """Runs a command of Slurm to its end. Ctrl-C does not reach the command: a job may have been submitted before its id is printed."""
    return subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, start_new_session=True)


def last_line(text: str) -> str:
    """The last line with a word; empty without one."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


if __name__ == "__main__":
    sys.exit(run_engine(run))
