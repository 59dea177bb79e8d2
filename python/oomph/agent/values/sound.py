"""Sound answers for reads of floating-point numbers that nothing computed.

Note [Sound values]
~~~~~~~~~~~~~~~~~~~
Zeros are rare on a GPU, and end programs that run on a GPU: a loss of zero is skipped, a norm of zero divides, weights of zero are no
probabilities, a covariance of zero has no inverse. So a program that reads unknown floating-point numbers receives positive ones:

- A single number is 0.01 at the first read in a line, and falls with every further read there, as a loss does: a loop that waits for a
  small error ends. In the condition of an `assert`, of a `while`, or of an `if` that raises (Note [Checks pass] in `checks`), also by way
  of a variable, the number is tiny: as good as zero for a tolerance, and still a divisor.
- The numbers of a row (the last dimension) add up to one, and rise: they are probabilities, and the corners of boxes in order.
  Rows differ a little, so that they are no copies of each other.
- Square matrices are half the identity: they have an inverse and a square root, and their rows add up to one.
- A comparison on the device of one unknown number with a known one is that of 0.01, but false in the condition of a `while`: loops end.
- A flag of an overflow, by the words in the line that reads it, is not set.

Tensors above `_MOST_BYTES` read as zeros, which take no host memory (Note [Holes] in `host.holes`). So does every tensor once `_MOST_ALIVE_BYTES`
of sound values are alive: weights on the host decide nothing. Rows of tensors above `_MOST_VARIED_BYTES` are equal.
"""

import functools
import re
from collections import Counter
from types import FrameType

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from ..process import frames
from ..source.trees import read_line
from . import checks

TEXT = (
    "numbers that only a GPU would have computed were read as small positive ones: single ones fall from 0.01, rows add up to one, "
    "square matrices are near the identity"
)

# The first answer of a line.
FIRST = 0.01
_FALLS_BY, _TINY = 0.97, 1e-12
_OVERFLOW = re.compile(r"overflow|found_?inf|is_?(nan|inf)|(inf|nan)_or_(inf|nan)", re.IGNORECASE)
_DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
_MOST_BYTES = 32 << 20
_MOST_ALIVE_BYTES = 1 << 30
_MOST_VARIED_BYTES = 1 << 20


class SoundValues:
    """The answers of one process."""

    def __init__(self) -> None:
        # The number of reads so far, by file and line.
        self._reads: Counter[tuple[str, int]] = Counter()
        # The host memory that holds sound values.
        self._filled: list[StorageWeakRef] = []
        self._filled_bytes = 0

    def next_number(self, asking: FrameType) -> float:
        """The answer for a read of one number by `asking`."""
        if asks_for_overflow(asking):
            return 0.0
        if checks.is_in_condition(asking):
            return _TINY
        line = frames.users_line(asking)
        self._reads[line] += 1
        return max(_TINY, FIRST * _FALLS_BY ** (self._reads[line] - 1))

    def fill(self, into: torch.Tensor, asking: FrameType) -> bool:
        """Fills a host tensor with the answer for a copy by `asking`; False if the tensor stays as it is."""
        if into.dtype not in _DTYPES or not into.numel() or not self._has_room(into):
            return False
        if into.numel() == 1:
            into.fill_(self.next_number(asking))
        elif into.nbytes <= _MOST_VARIED_BYTES:
            into.copy_(_varied(tuple(into.shape)))
        else:
            _fill_evenly(into)
        return True

    def _has_room(self, into: torch.Tensor) -> bool:
        size = into.untyped_storage().nbytes()
        if into.nbytes > _MOST_BYTES or size > _MOST_ALIVE_BYTES:
            return False
        if into.nbytes <= _MOST_VARIED_BYTES:
            return True
        if self._filled_bytes + size > _MOST_ALIVE_BYTES:
            self._filled = [it for it in self._filled if not it.expired()]
            # An upper bound: each has at most `_MOST_BYTES` of sound values.
            self._filled_bytes = len(self._filled) * _MOST_BYTES
        if self._filled_bytes + size > _MOST_ALIVE_BYTES:
            return False
        self._filled.append(StorageWeakRef(into.untyped_storage()))
        self._filled_bytes += size
        return True


def asks_for_overflow(asking: FrameType) -> bool:
    """True if the line reads a flag of an overflow, by its words."""
    return _OVERFLOW.search(read_line(asking.f_code.co_filename, asking.f_lineno)) is not None


def _fill_evenly(into: torch.Tensor) -> None:
    """Fills a tensor with rows of equal numbers."""
    share = 1 / _row_length(into.shape)
    if not _is_square(into.shape):
        into.fill_(share)
        return
    into.fill_(share / 2)
    into.diagonal(dim1=-2, dim2=-1).add_(0.5)


@functools.lru_cache(maxsize=16)
def _varied(shape: tuple[int, ...]) -> torch.Tensor:
    """Rows that rise, differ, and add up to one."""
    length = _row_length(shape)
    count = functools.reduce(lambda product, size: product * size, shape, 1)
    if _is_square(shape):
        return (0.5 / length + 0.5 * torch.eye(length, dtype=torch.float64, device="cpu")).expand(shape)
    rising = torch.arange(length, dtype=torch.float64, device="cpu")
    # The fractional parts of multiples of the golden ratio are spread evenly, and never repeat.
    varying = (torch.arange(count, dtype=torch.float64, device="cpu") * 0.6180339887498949).frac().view(-1, length)
    rows = 1 + (0.5 * rising + 0.4 * varying) / length
    return (rows / rows.sum(-1, keepdim=True)).view(shape)


def _row_length(shape: tuple[int, ...]) -> int:
    """The length of the last dimension of more than one element."""
    return next((size for size in reversed(shape) if size > 1), 1)


def _is_square(shape: tuple[int, ...]) -> bool:
    return len(shape) > 1 and shape[-1] == shape[-2] > 1
