"""The process that talks to Ray, for `ray_engine`: Note [Two processes] there."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
from typing import Any

import ray
import ray.cloudpickle
from ray.exceptions import RayError, RayTaskError

from . import protocol
from .protocol import EngineError, Request, TaskFailed, TaskKilled, emit, run_engine, run_task

_RETRIES = 3
# The longest time until a signal, or the end of the engine, is noticed.
_WAIT_SECONDS = 1.0
# The time for workers to end after they were cancelled.
_CANCEL_SECONDS = 25.0
_REACH_SECONDS = 10.0


def run(request: Request) -> None:
    """Runs the tasks, and emits all events but `end`."""
    connect(request.address)
    # Ray has a handler of its own for SIGTERM, which exits.
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        open_tasks = submit(request)
        emit("started", tasks=len(request.tasks), where=describe(request))
        collect(open_tasks, stop)
    except (ConnectionError, RayError) as error:
        raise EngineError(f"the connection to Ray was lost: {first_line(error)}") from error


def connect(address: str) -> None:
    """Connects to a cluster, or starts one on this machine for `local`."""
    # Only a cluster of this process's own takes these: no port for a page that nobody opens, and no report to Ray's makers.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    own = {"include_dashboard": False} if address == "local" else {}
    try:
        reach(address)
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **own)
    except (OSError, RuntimeError, ValueError, ImportError, RayError) as error:
        # Ray sends its token to a stated address only if asked: the engine must not decide that in place of the user.
        is_answered = ":" in address and getattr(error, "errno", None) is None
        hint = "; a cluster with tokens needs RAY_AUTH_MODE=token" if is_answered and "RAY_AUTH_MODE" not in os.environ else ""
        raise EngineError(f"Ray at `{address}` cannot be used: {first_line(error)}{hint}") from error


def reach(address: str) -> None:
    """Raises an `OSError` at an address where nobody listens: Ray itself goes on trying for minutes."""
    stated = os.environ.get("RAY_ADDRESS", "auto") if address == "auto" else address
    host, separator, port = stated.removeprefix("ray://").rpartition(":")
    if separator and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), _REACH_SECONDS).close()


def try_task(argv: list[str], cwd: str, env: dict[str, str], task: str) -> dict[str, Any]:
    """Runs a task on a node. Ray tries again after an exception; a wrong exit would only be repeated, and is a value."""
    try:
        return run_task(argv, cwd, env, task)
    except TaskKilled:
        raise
    except TaskFailed as error:
        return {"why": str(error)}


def submit(request: Request) -> dict[Any, int]:
    """Starts all tasks; returns the index of each by its reference."""
    # By value: a node may have no oomph, or another one.
    ray.cloudpickle.register_pickle_by_value(protocol)
    # Not a list of classes: the server behind `ray://` would have to import oomph.
    answer = ray.remote(num_cpus=request.cpus, memory=request.host_bytes, max_retries=_RETRIES, retry_exceptions=True)(try_task)
    return {answer.remote(request.argv, request.cwd, request.env, task): index for index, task in enumerate(request.tasks)}


def describe(request: Request) -> str:
    """The cluster, in words. Warns of tasks that no node can take: Ray waits for such a node, which an autoscaler may add."""
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    if not any(node.get("CPU", 0) >= request.cpus and node.get("memory", 0) >= request.host_bytes for node in nodes):
        needed = f"{request.cpus} CPUs and {request.host_bytes / (1 << 30):.1f} GiB of memory"
        print(f"no node of the Ray cluster has {needed}: the tasks wait until one is added", file=sys.stderr, flush=True)
    address = request.address if "://" in request.address else ray.get_runtime_context().gcs_address
    cpus = int(sum(node.get("CPU", 0) for node in nodes))
    return f"Ray at {address} with {cpus} CPU{'s' * (cpus != 1)} on {len(nodes)} node{'s' * (len(nodes) != 1)}"


def collect(open_tasks: dict[Any, int], stop: threading.Event) -> None:
    """Emits the answers as they come; after a signal, or the end of the engine, cancels the rest."""
    engine = os.getppid()
    while open_tasks and not stop.is_set() and os.getppid() == engine:
        report_ready(open_tasks)
    for reference in open_tasks:
        ray.cancel(reference)
    if open_tasks:
        ready, _ = ray.wait(list(open_tasks), num_returns=len(open_tasks), timeout=_CANCEL_SECONDS)
        report_finished(ready, open_tasks)


def report_ready(open_tasks: dict[Any, int]) -> None:
    """Emits the event of a task that has ended, if one ends in time."""
    ready, _ = ray.wait(list(open_tasks), num_returns=1, timeout=_WAIT_SECONDS)
    for reference in ready:
        index = open_tasks.pop(reference)
        try:
            report(index, ray.get(reference))
        except RayTaskError as error:
            report(index, {"why": first_line(error.cause)})
        except RayError as error:
            report(index, {"why": first_line(error)})


def report_finished(ready: list[Any], open_tasks: dict[Any, int]) -> None:
    """Emits the answers that came before the cancellation."""
    for reference in ready:
        try:
            report(open_tasks[reference], ray.get(reference))
        except RayError:
            # A cancelled task is not lost: Note [Engines].
            continue


def report(index: int, answer: dict[str, Any]) -> None:
    """Emits the event of a task."""
    emit("lost" if "why" in answer else "done", task=index, **answer)


def first_line(error: BaseException) -> str:
    """The message of an error, without the stack and the advice that Ray adds."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


if __name__ == "__main__":
    sys.exit(run_engine(run))
