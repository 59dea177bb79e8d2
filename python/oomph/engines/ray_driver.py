"""The process that talks to Ray, for `ray_engine`: Note [Two processes] there."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Any

import ray
import ray.cloudpickle
from ray.exceptions import RayError, RayTaskError

from . import protocol
from .protocol import EngineError, Request, TaskKilled, emit, run_engine, run_task

_RETRIES = 3
# The longest time until a signal, or the end of the engine, is noticed.
_WAIT_SECONDS = 1.0
# The time for workers to end after they were cancelled.
_CANCEL_SECONDS = 25.0


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
    try:
        ray.init(address=address, log_to_driver=False, logging_level="error")
    except (ConnectionError, RuntimeError, ValueError, ImportError, RayError) as error:
        raise EngineError(f"Ray at `{address}` cannot be used: {first_line(error)}") from error


def submit(request: Request) -> dict[Any, int]:
    """Starts all tasks; returns the index of each by its reference."""
    # By value: a node may have no oomph, or another one.
    ray.cloudpickle.register_pickle_by_value(protocol)
    answer = ray.remote(num_cpus=request.cpus, memory=request.host_bytes, max_retries=_RETRIES, retry_exceptions=[TaskKilled])(run_task)
    shared = ray.put((request.argv, request.cwd, request.env))
    return {answer.remote(*ray.get(shared), task): index for index, task in enumerate(request.tasks)}


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
        report_ready(open_tasks, 1, _WAIT_SECONDS)
    for reference in open_tasks:
        ray.cancel(reference)
    if open_tasks:
        ready, _ = ray.wait(list(open_tasks), num_returns=len(open_tasks), timeout=_CANCEL_SECONDS)
        report_finished(ready, open_tasks)


def report_ready(open_tasks: dict[Any, int], count: int, seconds: float) -> None:
    """Emits the events of tasks that have ended."""
    ready, _ = ray.wait(list(open_tasks), num_returns=count, timeout=seconds)
    for reference in ready:
        index = open_tasks.pop(reference)
        try:
            emit("done", task=index, **ray.get(reference))
        except RayTaskError as error:
            emit("lost", task=index, why=first_line(error.cause))
        except RayError as error:
            emit("lost", task=index, why=first_line(error))


def report_finished(ready: list[Any], open_tasks: dict[Any, int]) -> None:
    """Emits the answers that came before the cancellation."""
    for reference in ready:
        try:
            emit("done", task=open_tasks[reference], **ray.get(reference))
        except RayError:
            # A cancelled task is not lost: Note [Engines].
            continue


def first_line(error: BaseException) -> str:
    """The message of an error, without the stack and the advice that Ray adds."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


if __name__ == "__main__":
    sys.exit(run_engine(run))
