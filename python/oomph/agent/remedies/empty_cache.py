"""empty-cache: `torch.cuda.empty_cache()` after each step, as is often advised."""

import torch
from torch.optim import optimizer as optim

from . import Remedy


def install(remedy: Remedy) -> None:
    """Returns the cache to the driver after each step, and records the released bytes and the time."""
    calls = _Calls(remedy)
    optim.register_optimizer_step_post_hook(calls.stepped)
    remedy.at_end.append(calls.finish)


class _Calls:
    def __init__(self, remedy: Remedy) -> None:
        self._remedy = remedy
        self._given_back: list[int] = []

    def stepped(self, _optimizer, _args, _kwargs) -> None:
        """A step is done."""
        if not torch.cuda.is_initialized():
            return
        before = torch.cuda.memory_reserved()
        torch.cuda.empty_cache()
        self._given_back.append(before - torch.cuda.memory_reserved())
        self._remedy.applied("torch.cuda.empty_cache() after each step")

    def finish(self) -> None:
        """Records the effect of all calls."""
        if self._given_back:
            most = max(self._given_back) / 2**20
            allocations = torch.cuda.memory_stats()["num_device_alloc"]
            self._remedy.applied(
                f"{len(self._given_back)} calls gave back {most:.0f} MiB at most, all of it unused; the program called cudaMalloc {allocations}"
                " times in all. PyTorch gives its cache back by itself before it runs out",
                at=("", 0),
            )
