"""The open iterators of loaders, and the state of one of them in its epoch."""

import weakref
from collections.abc import Callable, Iterator

from torch.utils.data import DataLoader
from torch.utils.data import dataloader as torchs

from ...failure import guarded
from .sizes import Size, measure
from .worst import Scan

# No batch is held.
NOTHING = object()
# The batches with known sizes, which a scan must meet again.
_FIRST = 4


class Opened:
    """The open iterators, the innermost last; none is kept alive."""

    def __init__(self) -> None:
        # With the number of each, counted from 1.
        self._found: list[tuple[int, weakref.ref]] = []
        # The number of iterators so far.
        self.count = 0

    def __iter__(self) -> Iterator[torchs._BaseDataLoaderIter]:
        return iter(self._list())

    def __len__(self) -> int:
        return len(self._list())

    def __getitem__(self, index: int) -> torchs._BaseDataLoaderIter:
        return self._list()[index]

    def _list(self) -> list[torchs._BaseDataLoaderIter]:
        return [found for _, each in self._found if (found := each()) is not None]

    def find_after(self, number: int) -> torchs._BaseDataLoaderIter | None:
        """The first open iterator that was opened after `count` had been `number`."""
        return next((found for at, each in self._found if at > number and (found := each()) is not None), None)

    def add(self, passes: torchs._BaseDataLoaderIter) -> None:
        """Puts an iterator last."""
        self.remove(passes)
        self.count += 1
        self._found.append((self.count, weakref.ref(passes)))

    def remove(self, passes: torchs._BaseDataLoaderIter) -> None:
        """Removes an iterator, and references to dead iterators."""
        self._found = [(at, each) for at, each in self._found if each() is not None and each() is not passes]


opened = Opened()


class Epoch:
    """The state of one epoch."""

    def __init__(self, loader: DataLoader) -> None:
        self.loader = refer(loader)
        self.has_jumped = False
        # True if batches are fetched in the main process in place of the workers.
        self.is_direct = False
        self.ready = NOTHING
        self.total: int | None = None
        self.is_counted = False
        self.scan: Scan | None = None
        # The number of batches so far, the sizes of the first, and the position and size of the largest.
        self.taken = 0
        self.first: dict[int, Size] = {}
        self.largest: tuple[int, Size] | None = None

    @guarded
    def note(self, position: int, batch: object) -> None:
        """Measures a batch of the program's."""
        self.taken += 1
        size = measure(batch)
        if len(self.first) < _FIRST:
            self.first[position] = size
        if self.largest is None or size > self.largest[1]:
            self.largest = (position, size)


def refer(loader: DataLoader) -> Callable[[], DataLoader | None]:
    """A reference to a loader: weak if the loader may hold its iterator, as the workers would live on in the circle."""
    is_plain = type(loader).__iter__ is DataLoader.__iter__ and not loader.persistent_workers
    return (lambda: loader) if is_plain else weakref.ref(loader)
