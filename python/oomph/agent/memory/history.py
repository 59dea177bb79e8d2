"""PyTorch's memory history: turning it on, and writing the snapshot whole or not at all."""

import contextlib
import gc
import os
import pickle
import sys

import torch

from .. import hooks, wire
from .positions import Positions

# The ring holds the whole history of all but very long runs. An event costs some 200 bytes of host memory plus its stack.
_MAX_EVENTS = 4_000_000


def record() -> None:
    """Starts recording, in the cheapest way that keeps Python stacks: of allocations only, without C++ frames."""
    torch.cuda.memory._record_memory_history(enabled="all", context="alloc", stacks="python", max_entries=_MAX_EVENTS)
    _keep_on()


def _keep_on() -> None:
    """Ignores later calls: a program, or the compiler, that ends or shortens the history would empty the recording.

    A process has one history: the program's own snapshots show the events of the agent's.
    """
    for name in ("_cuda_record_memory_history", "_cuda_record_memory_history_legacy"):
        hooks.around(f"torch._C:{name}", lambda _record, *_args, **_kwargs: None)


def write(folder: str, stem: str, positions: Positions) -> str:
    """Writes torch's snapshot and returns its file name. Beside, then renamed: a full disk leaves no half file."""
    name = stem + wire.SNAPSHOT
    path = os.path.join(folder, name)
    try:
        with _no_collection(), _no_compiler():
            _dump(f"{path}.tmp", positions)
        os.replace(f"{path}.tmp", path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{path}.tmp")
        raise
    return name


def _dump(path: str, positions: Positions) -> None:
    """Writes the snapshot in a function of its own, so that the snapshot is freed before the garbage collector would walk through it."""
    snapshot = torch.cuda.memory._snapshot()
    positions.write_into(snapshot)
    _share_texts(snapshot)
    with open(path, "wb") as file:
        pickle.dump(snapshot, file)


def _share_texts(snapshot: dict) -> None:
    """Makes equal texts of events one object, stored once in the pickle; PyTorch makes a text for each event."""
    texts: dict[str, str] = {}
    for trace in snapshot["device_traces"]:
        for key in ("user_metadata", "compile_context"):
            for event in trace:
                text = event.get(key)
                if text is not None:
                    event[key] = texts.setdefault(text, text)


@contextlib.contextmanager
def _no_collection():
    """No cycle collection while millions of plain dictionaries are made: it would walk them again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextlib.contextmanager
def _no_compiler():
    """Keeps PyTorch from importing its compiler.

    Turning stacks into text asks for the attribute `_inductor` of `torch`, for the frames of generated code
    (torch/csrc/profiler/python/combined_traceback.cpp). The question imports the compiler: a second, in a program that has compiled
    nothing. Without the import, no such frames exist.
    """
    if "torch._inductor" in sys.modules:
        yield
        return
    with hooks.masked("torch:_inductor", None):
        yield
