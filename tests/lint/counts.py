"""Counts of a program: after each step, and at its end."""

import ast
import gc
import os

import torch


class Counts:
    """Counts from construction on. `host` also sums the host tensors after each step, which takes time."""

    def __init__(self, host: bool) -> None:
        self.host = host
        self.after: list[int] = []
        self.host_after: list[int] = []
        self.forks = 0
        self.collections = 0
        os.register_at_fork(before=self._forked)
        gc.callbacks.append(self._collected)

    def _forked(self) -> None:
        self.forks += 1

    def _collected(self, phase: str, info: dict) -> None:
        self.collections += phase == "start" and info["generation"] == 2

    def step(self) -> None:
        """Records the counts after a step of the program."""
        self.after.append(torch.cuda.memory_allocated(0))
        if self.host:
            self.host_after.append(_host_tensors())

    def total(self, namespace: dict) -> dict:
        """Returns all counts at the end of a program with these globals; counts of GPUs are those of GPU 0."""
        stats = torch.cuda.memory_stats(0) if torch.cuda.is_initialized() else {}
        return {
            "peak": stats.get("allocated_bytes.all.peak", 0),
            "reserved": stats.get("reserved_bytes.all.peak", 0),
            "mallocs": stats.get("num_device_alloc", 0),
            "after": self.after,
            "host_after": self.host_after,
            "forks": self.forks,
            "collections": self.collections,
            "profiled": _profiled(namespace),
            "stacks": _stacks(namespace),
            "history": _history(),
        }


def _host_tensors() -> int:
    """Returns the bytes of all live tensors on the host."""
    # `isinstance` reads the class of lazy modules, which imports them.
    tensors = [it for it in gc.get_objects() if issubclass(type(it), torch.Tensor)]
    storages = [it.untyped_storage() for it in tensors if it.device.type == "cpu"]
    return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())


def _profiled(namespace: dict) -> int:
    """Returns the number of calls of a linear layer recorded by the program's profiler."""
    profilers = [it for it in namespace.values() if type(it) is torch.profiler.profile]
    events = [event for it in profilers for event in it.profiler.kineto_results.events()]
    return sum(event.name() == "aten::linear" for event in events)


def _stacks(namespace: dict) -> int:
    """Returns the number of graph nodes of the last loss with the stack text of anomaly detection."""
    pending, seen = [getattr(namespace.get("loss"), "grad_fn", None)], set()
    while pending:
        node = pending.pop()
        if node is not None and node not in seen:
            seen.add(node)
            pending += [child for child, _ in node.next_functions]
    return sum("traceback_" in node.metadata for node in seen)


def _history() -> int:
    """Returns the number of entries of the memory history."""
    traces = torch.cuda.memory._snapshot()["device_traces"] if torch.cuda.is_initialized() else []
    return sum(len(trace) for trace in traces)


# The name of the function called after each step.
CALL = "__after_step__"


def with_steps(text: str, path: str):
    """Compiles the program with a call of `CALL` at the end of the body of its last outermost loop."""
    tree = ast.parse(text, path)
    loops = [it for it in ast.walk(tree) if isinstance(it, ast.For | ast.While)]
    inner = {it for loop in loops for it in ast.walk(loop) if it is not loop}
    outermost = [loop for loop in loops if loop not in inner]
    if outermost:
        body = max(outermost, key=lambda loop: loop.lineno).body
        call = ast.Expr(ast.Call(ast.Name(CALL, ast.Load()), [], []))
        body.append(ast.copy_location(call, body[-1]))
    return compile(ast.fix_missing_locations(tree), path, "exec")
