"""What a Trainer of transformers does after certain steps, and the step to which its loop goes on."""

from dataclasses import dataclass, field

# The times that each kind of work is seen, and those where the memory grew from one time to the next.
_TIMES, _TIMES_OF_GROWTH = 2, 6


@dataclass
class Due:
    """A kind of work, as an evaluation, that comes due every so many steps."""

    every: int
    first: int = 0
    least: int = _TIMES
    # The bytes that were left after each time.
    left: list[int] = field(default_factory=list)

    def next(self, step: int) -> int | None:
        """The first step after `step` at which the work comes due; `None` once it was seen often enough."""
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
    """The batch from which a loop goes on, so that the pass with the batch `wanted` runs as in the whole loop.

    `position`: the batch to come; `ahead`: the batches that are held already, and stand for those at the landing; `group`: the batches of a
    pass.
    """
    first = (wanted - position) // group * group
    return position + max(0, (first - ahead) // group * group)
