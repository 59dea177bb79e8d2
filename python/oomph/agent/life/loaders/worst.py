"""Finds the largest batches of an epoch before they are run.

Note [Worst batch]
~~~~~~~~~~~~~~~~~~
The size of a batch is the number of bytes of its tensors, then the longest dimension: with tensors of the same kind, the peak of a step
grows with the bytes; the scores of attention grow with the square of the length.

The program's dataset and collate function make batches for the scan, on the host, without the model. Where all batches cost too much time, samples
are sized first: by a column of lengths, or by reading them. The batches that are the largest if padded, if packed, or by their longest
sample, are then collated. Their bytes must be in the order of one of these three figures; else further batches are collated, until the time is
up. Samples are read in an order that covers the epoch evenly at any time (bit reversal), with both ends first: sorted data have their
largest batch there.

Growth hurts most in ascending order, the largest batch last. PyTorch's allocator keeps the blocks of earlier batches. A smaller batch fits
into blocks of a larger one, so descending sizes reserve memory once. A larger batch fits into none of the blocks of a smaller one: new
segments are reserved while the old ones stay cached. A shuffled epoch meets its records in ascending order as well. Of batches with the same
shapes one is enough.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from torch.utils.data import dataloader as torchs

from .allowed import find_allowed
from .bounds import Bounds, Spent
from .lengths import find_lengths
from .on_host import OnHost, count_allocations
from .order import Order, count
from .past import Past
from .sizes import Part, Size, measure
from .statistics import KEYS, Statistic, find_telling, list_top, of_lengths, of_samples

# The most samples that are read.
_SAMPLES = 200_000
# The batches collated first, those of each statistic, and the samples that prove one shape (as in `ahead.samples`).
_FIRST, _TOP, _ALIKE = 8, 8, 32
# The share of the time in which all batches are collated, and the share that reading samples leaves.
_ALL, _REST = 0.35, 0.35
# A scan over all batches that would take longer by this factor is out of reach.
_FAR = 10


@dataclass(frozen=True)
class Scan:
    """The sizes of an epoch's batches."""

    # The number of batches of known size, and of all; `None` if unknown.
    scanned: int
    total: int | None
    # The collated batches, by position.
    sizes: dict[int, Size] = field(default_factory=dict)
    # True if no batch is larger than the largest of `sizes`.
    is_complete: bool = False
    # True if all batches have the same size, but for a smaller last one, by all batches or by samples of one shape.
    is_uniform: bool = False
    # The known bound of an incomplete scan, in words.
    bound: str = ""

    @property
    def largest(self) -> int | None:
        """The position of the largest batch."""
        return max(self.sizes, key=lambda at: (self.sizes[at], -at), default=None)

    @property
    def shape(self) -> str:
        """The shapes of the largest batch."""
        return "" if self.largest is None else self.sizes[self.largest].shape

    def list_largest(self, count: int, now: int) -> list[int]:
        """The positions of the largest batches of different shapes, in ascending order of size; of equal ones the next from `now` on."""
        found: dict[str, int] = {}
        for at in sorted(self.sizes, key=lambda at: (-self.sizes[at].bytes, -self.sizes[at].longest, at < now, at)):
            found.setdefault(self.sizes[at].shape, at)
        return list(found.values())[:count][::-1]


def scan_batches(iterator: torchs._BaseDataLoaderIter, order: Order, now: int, seen: dict[int, Size], past: Past, seconds: float) -> Scan:
    """Scans the batches of an epoch of map-style data. The program's random numbers change: the caller restores them.

    `seen`: the sizes of batches of the program's. A scan that finds other sizes is not complete: they are random, or only the workers know them.
    """
    scanner = _Scanner(iterator, order, now, seen, past, seconds)
    try:
        with OnHost():
            scanner.run()
    except Spent:
        pass
    # The program's code may raise any error: the scan ends there.
    except Exception as error:
        scanner.fault = type(error).__name__
    return scanner.tell()


def spread(count: int, most: int) -> Iterator[int]:
    """Positions below `count`, at most `most`, in an order that covers all evenly at any time, with both ends first."""
    chosen = min(count, most)
    bits = max(chosen - 1, 0).bit_length()
    seen_ends = {0, count - 1}
    yield from sorted(seen_ends) if count > 0 else ()
    for number in range(1 << bits):
        reversed_ = int(f"{number:0{bits}b}"[::-1], 2) if bits else 0
        at = reversed_ * count // chosen if chosen else 0
        if reversed_ < chosen and at not in seen_ends:
            yield at


class _Scanner:
    def __init__(self, iterator: torchs._BaseDataLoaderIter, order: Order, now: int, seen: dict[int, Size], past: Past, seconds: float) -> None:
        self.fault = ""
        self._iterator = iterator
        self._order = order
        self._now = now
        self._past = past
        self._known = dict(seen)
        self._bounds = Bounds(seconds)
        self._seconds = seconds
        self._total = order.total
        self._positions: list[int] = []
        self._sizes: dict[int, Size] = {}
        self._statistics: dict[int, Statistic] = {}
        # The samples read for statistics, all samples seen, and their shapes: two at most.
        self._samples = self._seen = 0
        self._shapes: set[tuple] = set()
        self._allocations = count_allocations()
        # True once the program's code allocated on a GPU.
        self._is_on_gpu = False
        self._fetcher = torchs._DatasetKind.create_fetcher(iterator._dataset_kind, iterator._dataset, iterator._auto_collation, lambda it: it, iterator._drop_last)

    def run(self) -> None:
        """Collates all batches, or finds the largest by their samples."""
        known = self._order.read_all()
        self._total = known if self._order.is_whole else self._order.total
        share = _SAMPLES / max(self._order.count_samples(), 1)
        self._positions = list(spread(known, max(int(known * share), 1)))
        seconds = self._collate_first()
        if seconds > _FAR * self._seconds and self._is_of_one_shape():
            return
        if len(self._positions) > _FIRST * _FIRST and any(find() and self._find_by_statistics() for find in (self._read_lengths, self._recall_samples)):
            return
        self._statistics = {}
        if seconds > _ALL * self._seconds:
            self._read_samples()
            if self._find_by_statistics():
                return
            self._collate(list_top(self._statistics, KEYS[0], len(self._statistics), self._now))
        self._collate(self._positions)

    def _collate_first(self) -> float:
        """Collates some batches; returns the seconds for all at this rate."""
        first, start = [*self._positions[:_FIRST], *(at for at in self._known if at in self._positions)], time.process_time()
        self._collate(first)
        seconds = time.process_time() - start
        if not self._known and first:
            # The same batch again.
            self._known = {first[0]: self._sizes.pop(first[0])}
            self._collate(first[:1])
        return seconds / max(len(first), 1) * len(self._positions)

    def _is_stable(self) -> bool:
        """True if batches have the sizes that they had before."""
        return all(self._sizes[at] == size for at, size in self._known.items() if at in self._sizes)

    def _find_by_statistics(self) -> bool:
        """Collates the batches that are the largest by a statistic; True if one of the statistics tells the sizes."""
        for key in KEYS:
            self._collate(list_top(self._statistics, key, _TOP, self._now))
        return find_telling(self._statistics, self._sizes) is not None

    def _note(self, at: int, samples: object) -> list[tuple[Part, ...]]:
        """Notes the parts of the samples of a batch."""
        found = self._past.note(self._list_indices(at), samples if self._iterator._auto_collation else [samples])
        self._seen += len(found)
        if len(self._shapes) < 2:
            self._shapes.update(found)
        return found

    def _is_of_one_shape(self) -> bool:
        return len(self._shapes) == 1 and self._seen >= _ALIKE and not self.fault and self._are_equal()

    def _are_equal(self) -> bool:
        """True if the collated batches have the same size, but for a smaller last one."""
        last = (self._total or 0) - 1
        sizes = {size for at, size in self._sizes.items() if at != last}
        return len(sizes) == 1 and (last not in self._sizes or self._sizes[last] <= min(sizes))

    def _collate(self, positions: Iterable[int]) -> None:
        for at in positions:
            if at not in self._sizes:
                samples = self._fetch(at)
                self._note(at, samples)
                batch = self._bounds.call(self._iterator._collate_fn, samples)
                self._look_for_gpu()
                self._sizes[at] = measure(batch)
                # The next batch is made without this one.
                del samples, batch

    def _read_samples(self) -> None:
        whole, self._bounds = self._bounds, self._bounds.take_part(_REST)
        try:
            for at in self._positions:
                self._statistics[at] = of_samples(self._note(at, self._fetch(at)))
                self._samples += self._count_samples(at)
        except Spent:
            pass
        finally:
            self._bounds = whole

    def _read_lengths(self) -> bool:
        """Sizes the samples without reading them; False if that cannot be done."""
        lengths = self._bounds.call(find_lengths, self._iterator._dataset, self._iterator._index_sampler)
        if lengths is None:
            return False
        for at in self._positions:
            self._statistics[at] = of_lengths([lengths.values[each] for each in self._list_indices(at)], lengths.are_letters)
        return True

    def _recall_samples(self) -> bool:
        """Sizes the samples by earlier scans; False if these did not meet all, or met other samples."""
        found = {at: self._past.find(self._list_indices(at)) for at in self._positions}
        self._statistics = {at: of_samples(parts) for at, parts in found.items() if parts is not None}
        return len(self._statistics) == len(found) and not self._past.has_changed

    def _fetch(self, at: int) -> object:
        """The samples of a batch, or the one sample without batches."""
        found = self._bounds.call(self._fetcher.fetch, self._order.find(at))
        self._look_for_gpu()
        return found

    def _look_for_gpu(self) -> None:
        """Ends the scan if the program's code has allocated on a GPU."""
        self._is_on_gpu = count_allocations() != self._allocations
        if self._is_on_gpu:
            raise Spent

    def _list_indices(self, at: int) -> list[object]:
        index = self._order.find(at)
        return list(index) if self._iterator._auto_collation else [index]

    def _count_samples(self, at: int) -> int:
        return len(self._list_indices(at))

    def tell(self) -> Scan:
        """The result so far."""
        every = self._total is not None and len(self._positions) == self._total > 0
        is_collated = every and len(self._sizes) == self._total
        key = find_telling(self._statistics, self._sizes) if len(self._statistics) == self._total else None
        is_complete = self._is_stable() and (is_collated or (every and key is not None and not self.fault))
        scanned = self._total if is_complete else max(len(self._statistics), len(self._sizes))
        is_uniform = self._is_stable() and (self._is_of_one_shape() or (is_complete and self._is_uniform(key)))
        return Scan(scanned, self._total, {} if self._is_on_gpu else self._sizes, is_complete, is_uniform, "" if is_complete else self._bound())

    def _is_uniform(self, key: str | None) -> bool:
        """True if no statistic tells the batches of a complete scan apart."""
        last = self._total - 1
        values = {getattr(it, key) for at, it in self._statistics.items() if at != last} if key else set()
        return self._total == 1 or (self._are_equal() and (len(self._sizes) == self._total or len(values) <= 1))

    def _bound(self) -> str:
        """What was read, and the largest possible text."""
        samples, rows = self._samples or sum(map(self._count_samples, self._sizes)), count(self._iterator._dataset)
        is_read = len(self._statistics) == self._total and not self.fault
        if is_read or rows is None or samples > rows:
            text = f"{len(self._sizes):,} of {self._total:,} batches were made" if self._total else f"{len(self._sizes):,} batches were made"
        else:
            text = f"{samples:,} of {rows:,} samples were read"
        allowed = find_allowed(self._iterator._dataset, self._iterator._collate_fn)
        change = "" if self._is_stable() else "a batch had two sizes"
        return "; ".join(filter(None, (text, self.fault and f"{self.fault} was raised", change, allowed)))
