"""Notes which instructions of the program's own code ran.

Note [Taken]
~~~~~~~~~~~~
Code that ran is evidence, and code that did not run is open. The loop of a training begins after the construction of an optimizer, and so do the
notes. Each instruction in the program's own files counts once, wherever it stands: in a hook, a property, a handler, a method that PyTorch calls.
Functions that are entered after the first step belong to the loop; earlier ones are not called again.

Python 3.12 has `sys.monitoring`, which reports an instruction once and costs nothing afterwards. Older versions have trace functions only, which copy
the variables of each traced function into a dict: tensors would live longer than without oomph. There nothing is noted, and conditions are read from
the sources.
"""

import atexit
import sys
from collections.abc import Callable
from types import CodeType, FrameType

from ..process import frames

_NAME = "oomph"


class Taken:
    """The instructions that ran, by code object."""

    def __init__(self) -> None:
        # The offsets in bytes.
        self.seen: dict[CodeType, set[int]] = {}
        # The code that was entered after the first step.
        self.entered: set[CodeType] = set()
        self._is_begun = False
        self._has_stepped = False
        self._notes: _Monitored | None = None

    @property
    def is_on(self) -> bool:
        """True if no instruction is missing."""
        return self._notes is not None and self._notes.is_on

    def begin(self, frame: FrameType | None) -> None:
        """Begins to note instructions, also those of running functions."""
        if self._is_begun:
            return
        self._is_begun = True
        if hasattr(sys, "monitoring"):
            self._notes = _Monitored(self._enter, self._run)
            self._notes.begin(frame)
            # At the end of the interpreter the functions here have lost their modules.
            atexit.register(self.end)

    def note_step(self) -> None:
        """Marks the end of a step."""
        if self._notes is not None and not self._has_stepped:
            self._has_stepped = True
            self._notes.forget_entered()

    def end(self) -> None:
        """Ends the notes."""
        if self._notes is not None:
            self._notes.end()

    def _enter(self, code: CodeType) -> None:
        if self._has_stepped:
            self.entered.add(code)

    def _run(self, code: CodeType, offset: int) -> None:
        self.seen.setdefault(code, set()).add(offset)


class _Monitored:
    """`sys.monitoring`: an event for each function, and for each instruction."""

    def __init__(self, enter: Callable[[CodeType], object], run: Callable[[CodeType, int], object]) -> None:
        self._enter = enter
        self._run = run
        self.is_on = False

    def begin(self, frame: FrameType | None) -> None:
        monitoring = sys.monitoring
        free = next((it for it in (5, 4, 3) if monitoring.get_tool(it) is None), None)
        if free is None:
            return
        self._tool = free
        events = monitoring.events
        monitoring.use_tool_id(free, _NAME)
        monitoring.register_callback(free, events.PY_START, self._start)
        monitoring.register_callback(free, events.PY_RESUME, self._start)
        monitoring.register_callback(free, events.INSTRUCTION, self._instruction)
        for running in frames.list_running(frame):
            self._watch(running.f_code)
        monitoring.set_events(free, events.PY_START | events.PY_RESUME)
        self.is_on = True

    def forget_entered(self) -> None:
        if self.is_on:
            sys.monitoring.restart_events()

    def end(self) -> None:
        if self.is_on:
            self.is_on = False
            sys.monitoring.set_events(self._tool, 0)
            sys.monitoring.free_tool_id(self._tool)

    def _watch(self, code: CodeType) -> bool:
        if not frames.is_users(code.co_filename):
            return False
        sys.monitoring.set_local_events(self._tool, code, sys.monitoring.events.INSTRUCTION)
        return True

    def _start(self, code: CodeType, _offset: int) -> object:
        if self.is_on and self._watch(code):
            self._enter(code)
        return sys.monitoring.DISABLE

    def _instruction(self, code: CodeType, offset: int) -> object:
        self._run(code, offset)
        return sys.monitoring.DISABLE
