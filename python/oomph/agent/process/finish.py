"""The end of the program: by itself, by an exception, by a signal, or after the requested steps."""

import atexit
import contextlib
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from types import FrameType

import torch

from .. import hooks, records, wire
from ..part import Part, Write
from . import frames, server, teardown
from ..failure import find_explained

# The text of CUDA's error 901 (libcudart.so, CUDA 13.0).
_INVALIDATED = "operation failed due to a previous error during capture"
# The first words of the modules of the agent.
_OURS = __name__.partition(".process")[0]


class Finish(Part):
    """Calls `finish(reason, error)` once, whichever way the program ends; `note_stop(frame)` first, where the launcher asks for the end."""

    def __init__(self, finish: Callable[[str, BaseException | None], object], note_stop: Callable[[FrameType | None], object]) -> None:
        self._finish = finish
        self._note_stop = note_stop
        self._done = False
        # True once all records are written.
        self._is_written = False
        # True if the launcher asked for the end.
        self._is_asked = False
        self._is_child = False

    def install(self, write: Write) -> None:
        """Waits for the end: at exit, at the launcher's request, and at SIGTERM where the program leaves that to the system."""
        atexit.register(self._at_exit)
        self._wrap_immediate_exit()
        self._handle_termination()

    def attach(self) -> None:
        """A forked child leaves with `os._exit`; `multiprocessing` runs its own finalizers before."""
        if self._is_child:
            from multiprocessing import util

            util.Finalize(None, self._at_exit, exitpriority=-100)
            self._handle_termination()

    def _handle_termination(self) -> None:
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._at_signal)
        if in_main:
            signal.signal(wire.STOP, self._at_stop)

    def _wrap_immediate_exit(self) -> None:
        """`os._exit` runs no exit handlers; programs end with it to get past threads that would not end."""
        hooks.around("os:_exit", self._finish_first)

    def _finish_first(self, leave: Callable[[int], object], status: int) -> None:
        try:
            self.now("exit")
        finally:
            leave(status)

    def reset(self) -> None:
        """Starts afresh, in a forked child. `multiprocessing.Pool` ends its workers by SIGTERM: a worker that blocks on a lock between the
        arrival of the signal and the call of its handler would never end."""
        self._done = self._is_written = self._is_asked = False
        self._is_child = True
        for number, handler in ((signal.SIGTERM, self._at_signal), (wire.STOP, self._at_stop)):
            if signal.getsignal(number) == handler:
                signal.signal(number, signal.SIG_DFL)

    def now(self, reason: str, error: BaseException | None = None) -> None:
        """Finishes once; `error` is the exception that ends the program."""
        if not self._done:
            self._done = True
            self._finish(reason, error)
            self._is_written = True
            if self._is_asked:
                self._leave()

    def _at_exit(self) -> None:
        # The interpreter stores an uncaught exception here before printing, also if the program has its own `sys.excepthook`, so no hook is
        # replaced.
        error = getattr(sys, "last_value", None)
        if error is None:
            self.now("exit")
        elif isinstance(error, KeyboardInterrupt):
            self.now("interrupt")
        else:
            self.now("exception", error)
        if server.is_child:
            teardown.shorten()

    def _at_signal(self, number: int, _frame) -> None:
        """Finishes, then dies of the signal as the program would have. Records that are being written are written to their end first."""
        self.now("terminated")
        if not self._is_written:
            self._is_asked = True
            return
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _at_stop(self, _number: int, frame: FrameType | None) -> None:
        """Finishes and dies, without the program's own exit handlers: a dry run has nothing to save. Records that are being written are
        written to their end first."""
        self._is_asked = True
        if not self._done:
            self._note_stop(frame)
        self.now("terminated")
        if self._is_written:
            self._leave()

    def _leave(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            # The program may be printing, and a reader of its output may be gone.
            with contextlib.suppress(Exception):
                stream.flush()
        os.kill(os.getpid(), signal.SIGKILL)


def describe(error: BaseException) -> dict:
    """The record of an error."""
    explained = find_explained(error)
    error = first_of_capture(error)
    file, line = frames.users_line_of_error(error.__traceback__)
    return records.error(
        type=name_type(explained or error),
        message=message(error) if explained is None else explained.oomph_reason,
        oom=is_oom(error),
        file=file,
        line=line,
        traceback="".join(traceback.format_exception(error)),
        monotonic_ns=time.monotonic_ns(),
    )


def name_type(error: BaseException) -> str:
    """The name of the exception's class, with the module; of a class of ours, that of the class above."""
    kind = next(kind for kind in type(error).__mro__ if not kind.__module__.startswith(_OURS))
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")


def first_of_capture(error: BaseException) -> BaseException:
    """The error that invalidated a capture. Leaving `torch.cuda.graph` raises a second error, without the reason."""
    while _INVALIDATED in message(error) and error.__context__ is not None:
        error = error.__context__
    return error


def message(error: BaseException) -> str:
    """The exception's text; the class may raise when asked for the text."""
    try:
        return str(error)
    except Exception:
        return "<exception str() failed>"


def is_oom(error: BaseException) -> bool:
    """True if a device's memory ran out: PyTorch's own error, or a library's error with CUDA's wording."""
    if isinstance(error, torch.cuda.OutOfMemoryError):
        return True
    text = message(error)
    return "CUDA out of memory" in text or "CUDA error: out of memory" in text or "STATUS_ALLOC_FAILED" in text
