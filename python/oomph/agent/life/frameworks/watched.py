"""A loop of a library, and the repetition of passes."""

from dataclasses import dataclass, field

from .. import loaders
from ..signature import Pass, find_period

# The passes with different batches before the first jump, and after each jump.
_VARYING, _VARYING_AGAIN = 8, 2
# The number of passes in memory.
_MOST = 256


@dataclass
class Watched:
    """The passes of a loop, over all its runs."""

    file: str
    line: int
    # Tells loops with the same line apart.
    part: str = ""
    total: int | None = None
    passes: int = 0
    reason: str = "alike"
    is_shortened: bool = False
    scan: "loaders.Scan | None" = None
    # Repeated passes.
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
        """The period of the last passes; 1 for passes with different batches; `None` if more passes are needed."""
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


# All watched loops.
_watched: list[Watched] = []


def watch(file: str, line: int, part: str = "") -> Watched:
    """The loop of a library, by a line of the program."""
    found = next((it for it in _watched if (it.file, it.line, it.part) == (file, line, part)), None)
    if found is None:
        found = Watched(file, line, part)
        _watched.append(found)
    return found


def list_shortened() -> list[Watched]:
    """The shortened loops."""
    return [it for it in _watched if it.is_shortened]
