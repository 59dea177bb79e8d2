"""Notes which instructions of the program's own code ran.

Note [Taken]
~~~~~~~~~~~~
Code that ran is evidence, and code that did not run is open. The loop of a training begins after the construction of an optimizer, and so do the
notes. Each instruction in the program's own files counts once, wherever it stands: in a hook, a property, a handler, a method that PyTorch calls.
Functions that are entered after the first step belong to the loop; earlier ones are not called again.

Python 3.12 has `sys.monitoring`, which reports an instruction once and costs nothing afterwards. Older versions have trace functions: a function
without a new instruction in `_MOST_EVENTS` events is traced no more, and a program with a trace function, or with a compiler, is not
traced at all. In 3.10 instructions have no columns, so nothing is noted.
"""

import sys
from collections.abc import Callable
from types import CodeType, FrameType

from ..process import frames

_MOST_EVENTS = 20_000
_NAME = "oomph"
# A function of PyTorch's compiler, which reads code without running it.
_COMPILER = "torch/_dynamo/convert_frame.py"


class Taken:
    """The instructions that ran, by code object."""

    def __init__(self) -> None:
        # The offsets in bytes.
        self.seen: dict[CodeType, set[int]] = {}
        # The code that was entered after the first step.
        self.entered: set[CodeType] = set()
        self._is_begun = False
        self._has_stepped = False
        self._notes: _Notes | None = None

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
        elif sys.version_info >= (3, 11) and sys.gettrace() is None:
            self._notes = _Traced(self._enter, self._run)
        if self._notes is not None:
            self._notes.begin(frame)

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

    def _run(self, code: CodeType, offset: int) -> bool:
        """Notes an instruction; True if it is new."""
        seen = self.seen.setdefault(code, set())
        if offset in seen:
            return False
        seen.add(offset)
        return True


class _Notes:
    """A source of events."""

    is_on = False

    def __init__(self, enter: Callable[[CodeType], object], run: Callable[[CodeType, int], bool]) -> None:
        self._enter = enter
        self._run = run


class _Monitored(_Notes):
    """`sys.monitoring`: an event for each function, and for each instruction."""

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


class _Traced(_Notes):
    """Trace functions."""

    def begin(self, frame: FrameType | None) -> None:
        self._events: dict[CodeType, int] = {}
        self.is_on = True
        for running in frames.list_running(frame):
            if frames.is_users(running.f_code.co_filename):
                self._trace(running)
        sys.settrace(self._call)

    def forget_entered(self) -> None:
        """Every call has an event."""

    def end(self) -> None:
        if self.is_on:
            self.is_on = False
            sys.settrace(None)

    def _call(self, frame: FrameType, _event: str, _value: object) -> object:
        code = frame.f_code
        if not self.is_on:
            return None
        if not frames.is_users(code.co_filename):
            if code.co_filename.endswith(_COMPILER):
                self.end()
            return None
        self._enter(code)
        return self._trace(frame) if self._events.get(code, 0) < _MOST_EVENTS else None

    def _trace(self, frame: FrameType) -> Callable:
        frame.f_trace, frame.f_trace_opcodes, frame.f_trace_lines = self._step, True, False
        return self._step

    def _step(self, frame: FrameType, event: str, _value: object) -> object:
        if event == "opcode":
            code = frame.f_code
            is_new = self._run(code, frame.f_lasti)
            count = self._events[code] = 0 if is_new else self._events.get(code, 0) + 1
            if count >= _MOST_EVENTS or not self.is_on:
                frame.f_trace_opcodes = False
        return self._step
