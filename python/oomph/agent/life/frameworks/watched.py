"""A loop of a library: what its passes did, and whether they repeat."""

from dataclasses import dataclass, field

from .. import loaders
from ..signature import Pass, find_period

# Passes of batches that differ, before the loop goes on with the largest, and those after each jump.
_VARYING, _VARYING_AGAIN = 8, 2
# The passes that are kept.
_MOST = 256


@dataclass
class Watched:
    """The passes of a loop, over all its runs."""

    file: str
    line: int
    # Tells the loops apart that begin in one line.
    part: str = ""
    total: int | None = None
    passes: int = 0
    reason: str = "alike"
    is_shortened: bool = False
    scan: "loaders.Scan | None" = None
    # Passes that have repeated.
    steady: set[Pass] = field(default_factory=set)
    recent: list[Pass] = field(default_factory=list)

    def end_pass(self, done: Pass) -> None:
        """Notes a pass."""
        self.passes += 1
        self.recent = [*self.recent[-_MOST:], done]

    def begin_again(self) -> None:
        """Forgets the last passes, as something else than a pass follows."""
        self.recent = []

    def find_period(self, varies: bool) -> int | None:
        """The period of the last passes; 1 if they differ as their batches do; `None` if more passes are to be seen."""
        if not self.recent:
            return None
        period = find_period(self.recent)
        if period == 1:
            self.steady.add(self.recent[-1])
        if period is None and self.recent[-1] in self.steady:
            return 1
        if period is None and varies and len(self.recent) >= (_VARYING_AGAIN if self.is_shortened else _VARYING):
            return None if _rises(self.recent) else 1
        return period


def _rises(passes: list[Pass]) -> bool:
    """True if each of the last passes has left more memory."""
    last = [it.current_bytes for it in passes[-4:]]
    return len(last) > 2 and all(a < b for a, b in zip(last, last[1:]))


# The loops that were watched.
_watched: list[Watched] = []


def watch(file: str, line: int, part: str = "") -> Watched:
    """The loop of a library that the program entered at a line of its own."""
    found = next((it for it in _watched if (it.file, it.line, it.part) == (file, line, part)), None)
    if found is None:
        found = Watched(file, line, part)
        _watched.append(found)
    return found


def list_shortened() -> list[Watched]:
    """The loops that left out passes."""
    return [it for it in _watched if it.is_shortened]
