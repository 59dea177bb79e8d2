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
from ..position.modules import Modules

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
        parts = {id(child) for it in modules for child in it.__dict__.get("_modules", {}).values()}
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
    while frame is not None:
        if frame.f_code.co_name == _ENGINE:
            return True
        frame = frame.f_back
    return False
