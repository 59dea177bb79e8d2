"""The program's modules and optimizers, searched for at an error: nothing is hooked before."""

import gc
import sys
import weakref
from collections.abc import Iterator
from types import FrameType

import torch

from ..memory.census import Census
from ..memory.living import Living
from ..position.marks import Marks
from ..position.modules import Modules, list_children
from ..process import frames

_ENGINE = "_engine_run_backward"


class Found(Living):
    """What the program holds, found by a search through all its objects."""

    def __init__(self, marks: Marks) -> None:
        self._optimizers: weakref.WeakKeyDictionary[torch.optim.Optimizer, tuple[str, int]] = weakref.WeakKeyDictionary()
        modules = Modules(marks, first_forward=lambda _root: None)
        self.census = Census(modules, self._optimizers)
        super().__init__(modules, self.census)

    def list_roots(self) -> Iterator[dict]:
        """Searches first, and then as ever."""
        self._search()
        yield from super().list_roots()

    def _search(self) -> None:
        known = gc.get_objects()
        for it in known:
            if issubclass(type(it), torch.optim.Optimizer):
                self._optimizers[it] = ("", 0)
        modules = [it for it in known if issubclass(type(it), torch.nn.Module)]
        parts = {id(child) for it in modules for _, child in list_children(it)}
        for module in modules:
            if id(module) not in parts:
                self._modules.add_root(module)


class Waiting:
    """Finds the thread that waits for a backward, of which autograd's own threads have no stack."""

    @property
    def waiting_thread(self) -> int | None:
        """The thread; `None` outside of backward passes."""
        return next((thread for thread, frame in sys._current_frames().items() if _is_waiting(frame)), None)


def _is_waiting(frame: FrameType | None) -> bool:
    return any(it.f_code.co_name == _ENGINE for it in frames.list_running(frame))


def find_phase(frame: FrameType | None) -> str | None:
    """The phase that the functions of a thread tell, as crates/trace/src/recording/phases.rs does; `None` if they tell none."""
    if not frames.stack(frame):
        return "backward"
    for it in frames.list_running(frame):
        name, file = it.f_code.co_name, it.f_code.co_filename
        if name == _ENGINE:
            return "backward"
        if name == "_call_impl" and file.endswith("/torch/nn/modules/module.py"):
            return "forward"
        if name == "wrapper" and file.endswith("/torch/optim/optimizer.py"):
            return "optimizer"
    return None


class Places(Marks):
    """The position, of which the phase is read from the stack when somebody asks."""

    @property
    def phase(self) -> str:
        """The phase of the running thread."""
        return find_phase(sys._getframe(1)) or self._between

    @phase.setter
    def phase(self, phase: str) -> None:
        self._between = phase
