"""Out of memory, at the instant it happens: before PyTorch raises, while everything is still alive."""

import sys
import time
from collections.abc import Callable

import torch

from . import frames, handlers
from .backward import Backward
from .failure import guarded
from .marks import Marks
from .records import Records
from .stats import Stats


class OutOfMemory:
    """The observer that PyTorch calls (`attachOutOfMemoryObserver`, c10/cuda/CUDACachingAllocator.cpp)."""

    def __init__(self, marks: Marks, records: Records, stats: Stats, backward: Backward, note: Callable[[], object]) -> None:
        self.marks = marks
        self.records = records
        self.stats = stats
        self.backward = backward
        # Takes the census and saves the snapshot.
        self._note = note

    def attach(self) -> None:
        """Starts observing; needs CUDA to be initialised."""
        torch._C._cuda_attach_out_of_memory_observer(self._observe)

    @guarded
    def _observe(self, device: int, requested: int, total: int, free: int) -> None:
        here = frames.stack(sys._getframe())
        handler = self._find_handler()
        self.records.write(
            "oom",
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
            **handler,
        )
        self._note()

    def _find_handler(self) -> dict:
        """The fields of the record that name the handler; empty if nothing will catch the error."""
        frame = sys._getframe()
        if not frames.stack(frame):
            frame = sys._current_frames().get(self.backward.waiting_thread)
        handler = handlers.find(frame, torch.cuda.OutOfMemoryError)
        return {} if handler is None else {"caught_at": (handler.file, handler.line), "lowers": handler.lowers}
