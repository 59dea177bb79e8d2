"""What earlier runs of a loop have shown."""

import collections
from dataclasses import dataclass, field

from .signature import MOST_KINDS, Pass

# Passes that differ in a loop without a loader, before they count as varying: with no more memory in the second half than in the first.
_VARYING_ALONE = 200


@dataclass
class Known:
    """What the runs of a loop have shown so far."""

    # Passes that have repeated.
    steady: set[Pass] = field(default_factory=set)
    # The rise of each counter in a pass, by name or place.
    rises: dict[object, int] = field(default_factory=dict)
    # True if the loop's code draws sizes by lot; `None` until the code is read.
    draws_sizes: bool | None = None
    # The last passes of all runs, and true once they were seen to differ within bounds.
    last_passes: collections.deque[Pass] = field(default_factory=lambda: collections.deque(maxlen=_VARYING_ALONE))
    is_bounded: bool = False

    def note(self, one: Pass) -> None:
        """Notes a pass."""
        self.last_passes.append(one)

    def are_bounded(self) -> bool:
        """True if passes with work and steps differ, and the later ones take no more memory than the earlier ones."""
        passes, half = list(self.last_passes), _VARYING_ALONE // 2
        if self.is_bounded or len(passes) < _VARYING_ALONE:
            return self.is_bounded
        if len(set(passes)) > MOST_KINDS and any(it.steps for it in passes) and all(it.work for it in passes):
            first, last = passes[:half], passes[half:]
            most, most_before = max(it.current_bytes for it in last), max(it.current_bytes for it in first)
            self.is_bounded = most <= most_before and first[-1].reserved_bytes == last[-1].reserved_bytes
        return self.is_bounded


# By the number of a loop.
KNOWN: dict[int, Known] = {}
