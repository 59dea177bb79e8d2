"""An iterator of a `DataLoader` with a position and jumps. See Note [Loaders]."""

import contextlib
import functools
import time
import weakref

from torch.utils.data import DataLoader, _utils
from torch.utils.data import dataloader as torchs

from ...ahead import samples
from ...failure import guarded
from ...process import objects
from . import random_state
from .allowed import find_allowed
from .epoch import NOTHING, Epoch, opened
from .order import Order, count
from .past import Past
from .worst import Scan, scan_batches

_KINDS = (torchs._SingleProcessDataLoaderIter, torchs._MultiProcessingDataLoaderIter)
# The processor seconds for all scans of a loader, and for one at least.
_SECONDS, _FEWEST_SECONDS = 3.0, 0.5
# The loaders whose batches are known to be alike, or not; their earlier scans.
_alike: weakref.WeakKeyDictionary[DataLoader, bool] = weakref.WeakKeyDictionary()
_pasts: weakref.WeakKeyDictionary[DataLoader, Past] = weakref.WeakKeyDictionary()


class LoaderPasses:
    """The methods of an iterator; the class of an iterator has PyTorch's class as its second base."""

    @property
    def loader(self) -> DataLoader | None:
        """The loader; `None` once nothing holds it."""
        return self._passes.loader()

    @property
    def position(self) -> int:
        """The number of batches so far: the position of the next batch in its epoch."""
        return self._num_yielded

    @property
    def total(self) -> int | None:
        """The number of batches of the epoch; `None` if unknown."""
        state = self._passes
        if not state.is_counted:
            state.is_counted, state.total = True, _count_batches(self)
        return None if state.total is None or self.position > state.total else state.total

    @property
    def is_stream(self) -> bool:
        """True for an `IterableDataset`, whose jumps only count."""
        return self._dataset_kind != torchs._DatasetKind.Map

    @property
    def are_alike(self) -> bool:
        """True if the batches differ in no shape, but for a smaller last one."""
        loader = self.loader
        if loader is None:
            return self.scan.is_uniform
        if loader not in _alike:
            with random_state.kept():
                _alike[loader] = samples.are_alike(loader)
        # All epochs of a loader have the same samples.
        _alike[loader] = _alike[loader] or self.scan.is_uniform
        return _alike[loader]

    def list_largest(self, count: int) -> list[int] | None:
        """The positions of the largest batches, of different shapes, in ascending order of size; empty for batches that are alike.

        `None` if unknown. The batches may be the largest of a part: `scan` tells.
        """
        if self.are_alike:
            return []
        return self.scan.list_largest(count, self.position) or None

    @property
    def scan(self) -> Scan:
        """The sizes of the epoch's batches, found once (Note [Worst batch])."""
        state = self._passes
        if state.scan is None:
            state.scan = _scan(self)
        return state.scan

    def describe(self) -> dict:
        """The sizes of the batches, as the record `batches` has them: by the scan, or else by the batches so far."""
        state = self._passes
        scan = state.scan or Scan(0, self.total)
        position, size = state.largest or (None, None)
        if scan.sizes:
            position, size = scan.largest, scan.sizes[scan.largest]
        scanned = scan.scanned if scan.sizes else state.taken
        return {"scanned": scanned, "total": scan.total, "largest": position, "shape": size.shape if size else "", "bound": scan.bound}

    def jump(self, position: int) -> bool:
        """Has the batch at a position come next, or at `total` the end; False, without a change, if the batch is out of reach."""
        try:
            return self._jump(position)
        # The program's sampler, dataset and collate function run.
        except Exception:
            return False

    def bring(self, position: int) -> bool:
        """Has the batch at a position come next in place of the batch due; the positions and the other batches stay. False as for `jump`."""
        try:
            return not self.is_stream and self._bring(position)
        # As above.
        except Exception:
            return False

    def _jump(self, position: int) -> bool:
        state = self._passes
        if position == self.position and (self.total is None or position < self.total):
            return True
        if position < 0 or (self.total is not None and position > self.total):
            return False
        if not (position >= self.position if self.is_stream else self._seek(position)):
            return False
        state.has_jumped = True
        self._num_yielded = position
        return True

    def _seek(self, position: int) -> bool:
        """Moves the order to a position. With workers, fetches the batch at once: an error, such as for data of the workers, changes nothing."""
        order, state = self._find_order(), self._passes
        before = order.cursor
        if not order.seek(position):
            return False
        state.ready = NOTHING
        if self._num_workers:
            try:
                state.ready = self._fetch(self._next_index())
            except StopIteration:
                pass
            except Exception:
                order.cursor = before
                raise
            state.is_direct = True
        return True

    def _bring(self, position: int) -> bool:
        order, state = self._find_order(), self._passes
        index = order.find(position)
        if index is None:
            return False
        found = self._fetch(index)
        state.is_direct = state.is_direct or self._num_workers > 0
        state.ready = found if order.seek(self.position + 1) else NOTHING
        return state.ready is found

    def _find_order(self) -> Order:
        if type(self._sampler_iter) is not Order:
            self._sampler_iter = Order(self._index_sampler, self._sampler_iter)
        return self._sampler_iter

    def _fetch(self, index: object) -> object:
        """Fetches a batch in the main process, by PyTorch's own steps (`_SingleProcessDataLoaderIter._next_data`, torch 2.5 to 2.15)."""
        fetcher = torchs._DatasetKind.create_fetcher(self._dataset_kind, self._dataset, self._auto_collation, self._collate_fn, self._drop_last)
        # Workers have random numbers of their own.
        with random_state.kept() if self._num_workers else contextlib.nullcontext():
            data = fetcher.fetch(index)
        return _utils.pin_memory.pin_memory(data, self._pin_memory_device) if self._pin_memory else data

    def _next_index(self) -> object:
        self._find_order()
        return super()._next_index()

    def _next_data(self) -> object:
        state = self._passes
        ready, state.ready = state.ready, NOTHING
        if ready is not NOTHING:
            return ready
        return self._fetch(self._next_index()) if state.is_direct else super()._next_data()

    def __next__(self) -> object:
        try:
            if self._is_over():
                raise StopIteration
            found = super().__next__()
        except StopIteration:
            _close(self)
            raise
        self._passes.note(self.position - 1, found)
        return found

    def _is_over(self) -> bool:
        """True for a stream after a jump, at its total."""
        state = self._passes
        return self.is_stream and state.has_jumped and state.total is not None and self.position >= state.total

    def _reset(self, loader: DataLoader, *args, **kwargs) -> None:
        self._passes = Epoch(loader)
        opened.add(self)
        super()._reset(loader, *args, **kwargs)


def enter(call, iterator, loader, *args, **kwargs):
    """A layer around the constructor of PyTorch's iterators."""
    answer = call(iterator, loader, *args, **kwargs)
    _enter(iterator, loader)
    return answer


@guarded
def _enter(iterator: object, loader: DataLoader) -> None:
    if not isinstance(iterator, _KINDS) or isinstance(iterator, LoaderPasses):
        return
    iterator._passes = Epoch(loader)
    iterator.__class__ = _derive(type(iterator))
    opened.add(iterator)


@functools.cache
def _derive(kind: type) -> type:
    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    return type(kind.__name__, (LoaderPasses, kind), names)


def _scan(passes: LoaderPasses) -> Scan:
    if passes.is_stream:
        return Scan(0, passes.total, bound=find_allowed(passes._dataset, passes._collate_fn))
    loader, order, start = passes.loader, passes._find_order(), time.process_time()
    # The program's own next draw comes first, and changes the random numbers as before.
    order.read_all()
    past = Past() if loader is None else _pasts.setdefault(loader, Past())
    with random_state.kept():
        found = scan_batches(passes, order, passes.position, passes._passes.first, past, max(_SECONDS - past.seconds, _FEWEST_SECONDS))
    past.seconds += time.process_time() - start
    return found


@guarded
def _close(passes: LoaderPasses) -> None:
    """Ends the workers of an epoch that ended, but for persistent ones."""
    opened.remove(passes)
    if passes._num_workers and not passes._persistent_workers:
        passes._shutdown_workers()


def _count_batches(passes: LoaderPasses) -> int | None:
    """The length of the loader; `None` if its sampler has another length, or is endless."""
    loader = passes.loader
    if not passes.is_stream:
        found = count(passes._index_sampler)
        return found if loader is None or count(loader) == found else None
    if loader is None:
        return None
    # PyTorch compares the number of batches with a length that the program has asked for, and only then.
    asked = objects.read(loader, "_IterableDataset_len_called")
    found = count(loader)
    loader._IterableDataset_len_called = asked
    return found
