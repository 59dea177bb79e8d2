"""The time for which a program waits for its `DataLoader`s.

An iterator of a `DataLoader` returns its next batch by `_next_data` (torch/utils/data/dataloader.py, 1.2 to 2.11): without workers the
batch is made in the meantime, with workers the program waits until a worker has made it.
"""

import time

from .. import records
from ..hooks import around


class LoaderClock:
    """Adds up the waiting."""

    def __init__(self) -> None:
        self._wait_ns = 0
        self._workers = 0
        self._pins_memory = False

    def install(self) -> None:
        """Times the iterators of all loaders."""
        for kind in ("_SingleProcessDataLoaderIter", "_MultiProcessingDataLoaderIter"):
            around(f"torch.utils.data.dataloader:{kind}._next_data", self._wait_for_batch)

    def describe(self) -> dict | None:
        """The record; `None` without a loader."""
        if not self._wait_ns:
            return None
        return records.loader_wait(wait_ns=self._wait_ns, workers=self._workers, pins_memory=self._pins_memory)

    def _wait_for_batch(self, next_data, iterator):
        started = time.perf_counter_ns()
        try:
            return next_data(iterator)
        finally:
            self._wait_ns += time.perf_counter_ns() - started
            self._workers = iterator._num_workers
            self._pins_memory = iterator._pin_memory
