"""The program's position: the text that PyTorch's memory history attaches to every event.

Note [Marks and threads]
~~~~~~~~~~~~~~~~~~~~~~~~
PyTorch keeps the text per thread (`DeviceCachingAllocator::user_metadata` is `thread_local`, for all devices together;
c10/cuda/CUDACachingAllocator.cpp, 2.10 and later), and autograd runs a device's backward in a thread of its own. So step,
phase and census are the process's, the module is the thread's, and is set in the thread that starts to run code:
forward hooks for the thread that calls a module, pre-hooks of graph nodes for autograd's (see `backward`).
"""

import threading
from collections.abc import Callable


class _ThreadPosition(threading.local):
    """Per thread: the running module, and its callers."""

    def __init__(self) -> None:
        self.module = ""
        self.callers: list[tuple[int, str]] = []


class Marks:
    """The current mark, passed to PyTorch once CUDA is initialised (`attach`), and without the module to `show` (Note [Sight])."""

    def __init__(self, show: Callable[[str], object] = lambda _: None) -> None:
        self._show = show
        self.step = 1
        self.phase = "setup"
        self.census = 0
        # The stage of the job (`life.stages`); empty if the program is stopped after its steps.
        self.stage = ""
        # The optimizer steps of skipped passes.
        self.skipped = 0
        self.thread = _ThreadPosition()
        self._prefix = self._text()
        self._set: Callable[[str], None] | None = None

    def attach(self, set_metadata: Callable[[str], None]) -> None:
        """Passes every mark to PyTorch, or before 2.10 to `memory.positions` (Note [Positions])."""
        self._set = set_metadata
        self._changed()

    def reset(self) -> None:
        """Starts again, in a forked child."""
        self.__init__(self._show)

    def enter_phase(self, phase: str) -> None:
        """Sets the phase of the step."""
        if phase != self.phase:
            self.phase = phase
            self._changed()

    def enter_stage(self, stage: str) -> None:
        """Sets the stage of the job."""
        self.stage = stage
        self._changed()

    def skip_steps(self, skipped: int) -> None:
        """Sets the number of optimizer steps that shortened loops have left out."""
        self.skipped = skipped
        self._changed()

    def step_done(self, done: int) -> None:
        """Sets the number of completed optimizer steps."""
        self.step = done + 1
        self.phase = "data"
        self._changed()

    def next_census(self) -> int:
        """Starts a census; returns its number."""
        self.census += 1
        self._changed()
        return self.census

    def enter_module(self, name: str) -> None:
        """Sets the running module of this thread."""
        self.thread.module = name
        if self._set is not None:
            self._set(self._prefix + name)

    def text(self) -> str:
        """The mark of this thread."""
        return self._prefix + self.thread.module

    def _changed(self) -> None:
        self._prefix = self._text()
        self._show(self._prefix)
        self.enter_module(self.thread.module)

    def _text(self) -> str:
        life = f" stage={self.stage} skipped={self.skipped}" if self.stage else ""
        return f"oomph step={self.step} phase={self.phase} census={self.census}{life} module="
