"""The effect of a pass on the memory, and the repetition of passes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch

# The most passes of a period, as of gradient accumulation.
_LONGEST_PERIOD = 64
# The passes that are compared.
MOST_COMPARED = 2 * _LONGEST_PERIOD
# The passes of a mixture, as by a choice at random in each pass: twice as many, and the kinds of pass.
_MIXED, MOST_KINDS = 12, 6


@dataclass(frozen=True)
class Reading:
    """The counters of all devices, and the work so far."""

    # As requested: a block that the allocator does not split has more bytes, by chance of its cache.
    current_bytes: int = 0
    reserved_bytes: int = 0
    # Ever allocated.
    total_bytes: int = 0
    allocations: int = 0
    # Calls of models, backward passes, batches, and optimizer steps.
    work: int = 0
    steps: int = 0


@dataclass(frozen=True)
class Pass:
    """The difference of two readings; passes that repeat are equal."""

    current_bytes: int
    reserved_bytes: int
    total_bytes: int
    allocations: int
    work: int
    # With the steps of shortened loops inside, of which each epoch may run another number.
    steps: int = field(compare=False)
    has_stepped: bool
    # The kinds of pass of the shortened loops inside.
    inside: tuple[frozenset, ...] = ()

    @property
    def made(self) -> tuple:
        """The bytes and the number of the allocations, the bytes left, and the passes inside."""
        return self.total_bytes, self.allocations, self.current_bytes, self.inside


@dataclass(frozen=True)
class Inside:
    """A shortened loop inside a pass: its kinds of pass, and what all of them made."""

    kinds: frozenset
    total_bytes: int
    allocations: int
    work: int


def between(before: Reading, after: Reading, inside: Sequence[Inside] = ()) -> Pass:
    """The effect of a pass, and the bytes behind. A shortened loop inside counts as one piece of work, however many passes it ran."""
    steps = after.steps - before.steps
    return Pass(
        after.current_bytes,
        after.reserved_bytes,
        after.total_bytes - before.total_bytes - sum(it.total_bytes for it in inside),
        after.allocations - before.allocations - sum(it.allocations for it in inside),
        after.work - before.work - sum(it.work - 1 for it in inside),
        steps,
        steps > 0,
        tuple(it.kinds for it in inside),
    )


class Pulse:
    """Reads the counters."""

    def __init__(self, count_work: Callable[[], int], count_steps: Callable[[], int]) -> None:
        # False for an allocator without counters, such as a `CUDAPluggableAllocator`: nothing shows that passes repeat.
        self.is_counting = True
        self._count_work = count_work
        self._count_steps = count_steps

    def count_steps(self) -> int:
        """The optimizer steps so far."""
        return self._count_steps()

    def read(self) -> Reading:
        """The counters now; only those of the work before CUDA is initialised."""
        work, steps = self._count_work(), self._count_steps()
        if not torch.cuda.is_initialized() or not self.is_counting:
            return Reading(work=work, steps=steps)
        try:
            return self._read_devices(work, steps)
        except RuntimeError:
            self.is_counting = False
            return Reading(work=work, steps=steps)

    @staticmethod
    def _read_devices(work: int, steps: int) -> Reading:
        current = reserved = total = allocations = 0
        for device in range(torch.cuda.device_count()):
            stats = torch._C._cuda_memoryStats(device)
            current += stats["requested_bytes"]["all"]["current"]
            reserved += stats["reserved_bytes"]["all"]["current"]
            total += stats["requested_bytes"]["all"]["allocated"]
            allocations += stats["allocation"]["all"]["allocated"]
        return Reading(current, reserved, total, allocations, work, steps)


def find_period(passes: list[Pass], needs_step: bool = False) -> int | None:
    """The number of passes after which the last passes repeat; `None` without repetition. `needs_step`: a period has an optimizer step."""
    for period in range(1, min(_LONGEST_PERIOD, len(passes) // 2) + 1):
        is_whole = not needs_step or any(it.steps for it in passes[-period:])
        if is_whole and passes[-period:] == passes[-2 * period : -period]:
            return period
    return None


def are_mixed(passes: list[Pass]) -> bool:
    """True if the last passes are of a few kinds that all came before, in no order: the program draws lots."""
    before, last = passes[-2 * _MIXED : -_MIXED], passes[-_MIXED:]
    return len(before) == _MIXED and len(set(before)) <= MOST_KINDS and set(last) == set(before)
