"""The work of a library after certain steps, and the next step of a loop with a jump."""

from dataclasses import dataclass, field

# The visits of each kind of work, and of work with growing memory.
_TIMES, _TIMES_OF_GROWTH = 2, 6


@dataclass
class Due:
    """A kind of work with an interval of steps, as an evaluation."""

    every: int
    first: int = 0
    least: int = _TIMES
    # The bytes on the devices after each visit.
    left: list[int] = field(default_factory=list)

    def next(self, step: int) -> int | None:
        """The next step with the work, after `step`; `None` after enough visits."""
        if self.every <= 0 or self._is_known():
            return None
        start = max(step + 1, self.first)
        return -(-start // self.every) * self.every

    def comes_at(self, step: int) -> bool:
        """True if the work comes due at a step."""
        return self.every > 0 and step >= self.first and step % self.every == 0

    def _is_known(self) -> bool:
        grows = len(self.left) > 1 and self.left[-1] > self.left[-2]
        return len(self.left) >= (_TIMES_OF_GROWTH if grows else self.least)


def find_landing(position: int, wanted: int, ahead: int, group: int) -> int:
    """The first batch after a jump: the pass with the batch `wanted` runs as in the whole loop.

    `position`: the batch to come; `ahead`: the batches in hand, in place of the first ones after the jump; `group`: the batches of a
    pass.
    """
    first = (wanted - position) // group * group
    return position + max(0, (first - ahead) // group * group)
