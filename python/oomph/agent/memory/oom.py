"""Out of memory, at the instant it happens: before PyTorch raises, while everything is still alive."""

import sys
import time
from collections.abc import Callable
from types import FrameType

import torch

from .. import records
from ..position.backward import Backward
from ..position.enclosing import list_loops
from ..position.marks import Marks
from ..process import frames, local_variables
from ..failure import guarded
from ..hooks.hidden import hide
from ..record_file import RecordFile
from . import handlers, operation
from .attempts import Attempts
from .living import Living
from .stats import Stats

# The number of errors with a search through all objects. A search takes a part of a second.
_MOST_SEARCHES = 8


@guarded
def _list(part: Callable) -> list[dict]:
    """The records of a part."""
    found = part()
    return [found] if isinstance(found, dict) else list(found or ())


class OutOfMemory:
    """The observer that PyTorch calls (`attachOutOfMemoryObserver`, c10/cuda/CUDACachingAllocator.cpp)."""

    def __init__(
        self,
        marks: Marks,
        record_file: RecordFile,
        stats: Stats,
        backward: Backward,
        living: Living,
        note: Callable[[], object],
    ) -> None:
        self.marks = marks
        self.record_file = record_file
        self.stats = stats
        self.backward = backward
        # Takes the census and saves the snapshot.
        self._note = note
        self._living = living
        self._errors = 0
        self.attempts = Attempts()
        # The records of the surroundings of the last error.
        self.surroundings: list[dict] = []

    def attach(self) -> None:
        """Starts observing; needs CUDA to be initialised."""
        torch._C._cuda_attach_out_of_memory_observer(hide(self._observe))

    @guarded
    def _observe(self, device: int, requested: int, total: int, free: int) -> None:
        here = frames.stack(sys._getframe())
        handler = self._find_handler()
        record = records.oom(
            device=device,
            requested_bytes=requested,
            total_bytes=total,
            free_bytes=free,
            step=self.marks.step,
            phase=self.marks.phase,
            module=self.marks.thread.module,
            stats=self.stats.of(device),
            # Autograd's threads have no Python stack: the frames are those of the waiting thread.
            frames=here or frames.stack_of_thread(self.backward.waiting_thread),
            monotonic_ns=time.monotonic_ns(),
            records_in_eval=_records_in_eval(self._find_frame(sys._getframe(1))),
            without_grad=not torch.is_grad_enabled(),
            caught_at=handler and (handler.file, handler.line),
            lowers=handler and handler.lowers,
            guard=handler and handler.guard,
        )
        self.record_file.write(record)
        self.attempts.note_error(self._find_frame(sys._getframe(1)), handler)
        self._note_surroundings(requested)
        self._note()

    def _note_surroundings(self, requested: int) -> None:
        self._errors += 1
        frame = self._find_frame(sys._getframe(1))
        parts: list[Callable] = [lambda: list_loops(frame), lambda: operation.describe(frame, requested)]
        if self._errors <= _MOST_SEARCHES:
            living = self._living
            parts += [living.list_roots, living.list_held, living.describe_visible, living.list_keepers]
        self.surroundings = [row for part in parts for row in _list(part) or ()]

    def _find_handler(self) -> handlers.Handler | None:
        """The handler that will catch the error; `None` if nothing will."""
        # Not its own frame: a frame that refers to itself keeps all frames below and their tensors alive.
        return handlers.find(self._find_frame(sys._getframe(1)), torch.cuda.OutOfMemoryError)

    def _find_frame(self, frame: FrameType | None) -> FrameType | None:
        """`frame`, or where a thread of autograd calls, which has no Python stack, that of the waiting thread."""
        return frame if frames.stack(frame) else sys._current_frames().get(self.backward.waiting_thread)


def _records_in_eval(frame: FrameType | None) -> bool:
    """True if the outermost running module is in evaluation mode, has parameters to train, and gradients are recorded."""
    if not torch.is_grad_enabled():
        return False
    held = [local_variables.read(it, "self") for it in frames.list_running(frame) if it.f_code.co_name == "_call_impl"]
    roots = [it for it in held if issubclass(type(it), torch.nn.Module)]
    return bool(roots) and not roots[-1].training and any(it.requires_grad for it in roots[-1].parameters())
