"""gc-collect: `gc.collect()` after each step, as is often advised."""

import gc

import torch
from torch.optim import optimizer as optim

from . import Remedy


def install(remedy: Remedy) -> None:
    """Runs Python's garbage collector after each step, and says how much GPU memory that freed."""
    collections = _Collections(remedy)
    optim.register_optimizer_step_post_hook(collections.stepped)
    remedy.at_end.append(collections.finish)


class _Collections:
    def __init__(self, remedy: Remedy) -> None:
        self._remedy = remedy
        self._freed: list[int] = []

    def stepped(self, _optimizer, _args, _kwargs) -> None:
        """A step is done."""
        if not torch.cuda.is_initialized():
            return
        before = torch.cuda.memory_allocated()
        gc.collect()
        self._freed.append(before - torch.cuda.memory_allocated())
        self._remedy.applied("gc.collect() after each step")

    def finish(self) -> None:
        """Records the effect of all calls."""
        if self._freed:
            said = "tensors are freed when nothing refers to them, and none referred to itself"
            if any(self._freed):
                said = "tensors that referred to themselves: break the cycle, and they are freed at once"
            self._remedy.applied(f"{len(self._freed)} calls freed {max(self._freed):,} bytes of GPU memory at most: {said}", at=("", 0))
