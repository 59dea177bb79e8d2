"""Where the program is: the text that PyTorch's memory history attaches to every event.

Note [Marks and threads]
~~~~~~~~~~~~~~~~~~~~~~~~
PyTorch keeps the text per thread (`DeviceCachingAllocator::user_metadata` is `thread_local`, for all devices together;
c10/cuda/CUDACachingAllocator.cpp, 2.10 and later), and autograd runs a device's backward in a thread of its own. So step,
phase and census are the process's, the module is the thread's, and whoever starts to run in a thread says so there:
forward hooks for the thread that calls a module, pre-hooks of graph nodes for autograd's (see `backward`).
"""

import threading
from collections.abc import Callable


class _Place(threading.local):
    """Per thread: the module that runs, and the ones it was called from."""

    def __init__(self) -> None:
        self.module = ""
        self.callers: list[tuple[int, str]] = []


class Marks:
    """The mark in force. It reaches PyTorch once CUDA is there (`attach`)."""

    def __init__(self) -> None:
        self.step = 1
        self.phase = "setup"
        self.census = 0
        self.place = _Place()
        self._prefix = self._text()
        self._set: Callable[[str], None] | None = None

    def attach(self, set_metadata: Callable[[str], None]) -> None:
        """From now on the mark is told to PyTorch, or before 2.10 to who counts (Note [Positions] in `positions`)."""
        self._set = set_metadata
        self._changed()

    def reset(self) -> None:
        """Starts afresh, in a forked child."""
        self.__init__()

    def enter_phase(self, phase: str) -> None:
        """The program is in another part of the step."""
        if phase != self.phase:
            self.phase = phase
            self._changed()

    def step_done(self, done: int) -> None:
        """So many optimizer steps are done; the next is under way."""
        self.step = done + 1
        self.phase = "data"
        self._changed()

    def next_census(self) -> int:
        """A census is taken now; its number."""
        self.census += 1
        self._changed()
        return self.census

    def enter_module(self, name: str) -> None:
        """This thread runs a module's code."""
        self.place.module = name
        if self._set is not None:
            self._set(self._prefix + name)

    def text(self) -> str:
        """The mark of this thread."""
        return self._prefix + self.place.module

    def _changed(self) -> None:
        self._prefix = self._text()
        self.enter_module(self.place.module)

    def _text(self) -> str:
        return f"oomph step={self.step} phase={self.phase} census={self.census} module="
