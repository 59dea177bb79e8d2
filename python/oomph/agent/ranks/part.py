"""The ranks of a job, as a part of the session."""

from collections.abc import Callable

import torch

from ..part import Assume, Part, Write
from ..phantom import Phantom
from . import absent_ranks, job_rank


class Ranks(Part):
    """Groups and exchanges, over a phantom GPU."""

    def __init__(self, found: Phantom | None, assume: Assume) -> None:
        self._phantom = found
        self._assume = assume
        # Waits after a step, before memory is counted.
        self.settle: Callable[[], object] = lambda: None

    def install(self, write: Write) -> None:
        """Replaces functions of `torch.distributed`."""
        if self._phantom is None or not torch.distributed.is_available():
            return
        from . import groups, integers, objects

        rank = job_rank.read_requested()
        groups.install(self._phantom)
        objects.install(rank is not None, self._assume)
        if rank is not None:
            absent_ranks.install(rank, self._assume)
        else:
            integers.install()
        self.settle = groups.settle
