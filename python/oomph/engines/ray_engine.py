"""Runs the tasks of a sweep with Ray: `python -m oomph.engines.ray_engine`. See Note [Engines].

Note [Two processes]
~~~~~~~~~~~~~~~~~~~~
A process that has called `ray.init` is ended by Ray when the head node goes away: C++ code exits, and no exception is raised. This process
therefore never imports Ray. A second one, `ray_driver`, does; its events pass through here, and if it ends too early then the open tasks are
reported as lost.
"""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
import sys
from collections.abc import Iterable

from .protocol import EngineError, Request, emit, run_engine

_MISSING = "Ray is not installed in this Python: pip install ray"


def run(request: Request) -> None:
    """Runs the tasks, and emits their events."""
    if importlib.util.find_spec("ray") is None:
        raise EngineError(_MISSING)
    driver = subprocess.Popen(
        # Ctrl-C reaches all processes of a terminal; Ray must not end before its tasks are cancelled.
        [sys.executable, "-m", "oomph.engines.ray_driver"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    stops: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda received, _: (stops.append(received), driver.terminate()))
    driver.stdin.write(json.dumps(vars(request)))
    driver.stdin.close()
    is_started, answered = relay(driver.stdout)
    status = driver.wait()
    if status != 0 and not stops:
        if not is_started and status == 2:
            # The driver has stated the reason.
            sys.exit(status)
        if not is_started:
            raise EngineError(f"Ray at `{request.address}` cannot be used: its driver ended with status {status}")
        report_lost(set(range(len(request.tasks))) - answered, status)
    emit("end")


def relay(lines: Iterable[str]) -> tuple[bool, set[int]]:
    """Passes events on; returns True if the tasks were started, and the tasks with an event."""
    is_started, answered = False, set()
    for line in lines:
        event = json.loads(line)
        is_started = is_started or event["kind"] == "started"
        answered |= {event["task"]} if "task" in event else set()
        emit(**event)
    return is_started, answered


def report_lost(tasks: set[int], status: int) -> None:
    """Emits the loss of all tasks that were open when the driver ended."""
    for task in sorted(tasks):
        emit("lost", task=task, why=f"the connection to Ray was lost: its head node went away, or the driver was killed (status {status})")


if __name__ == "__main__":
    sys.exit(run_engine(run))
