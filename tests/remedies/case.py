"""The cases of the remedies, and the arithmetic of their expected bytes."""

from dataclasses import dataclass

# PyTorch 2.11, c10/cuda/CUDACachingAllocator.h: blocks are multiples of 512 B.
_ROUNDING = 512


@dataclass(frozen=True)
class Case:
    """A program, run as it is and with a remedy. All bytes are `allocated` at the peak."""

    # `programs/PROGRAM.py`.
    program: str
    # The argument of `oomph check --with`.
    remedy: str
    # The peak of the program as it is. None, here and for `after`, where too much of a library is in it to be reckoned: then
    # the patched source must be there to compare with, and the peak must be lower.
    before: int | None
    # The peak with the remedy; where it does not apply, `before` once more.
    after: int | None
    # Parts of the report's notes on the remedy.
    notes: tuple[str, ...]
    # The same change in the source, as `(old, new)`, with each `old` occurring once: the result must have the same peaks. Empty if nothing
    # is changed.
    by_hand: tuple[tuple[str, str], ...] = ()
    # The program's arguments.
    arguments: tuple[str, ...] = ()
    # More options of `oomph check`, such as `--world-size 4`.
    options: tuple[str, ...] = ()
    gpu: str = "rtx-4090"
    # With the remedy; as it is, the program must fit.
    verdict: str = "fits"
    # Packages without which the case is skipped.
    needs: tuple[str, ...] = ()
    # Packages that must be absent.
    lacks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name in the table and on the command line."""
        return " ".join((self.remedy, self.program, *self.arguments, *self.options, *(f"without {package}" for package in self.lacks)))


def block(nbytes: int) -> int:
    """The block size for a request of `nbytes`, unless the block is cut from a larger segment."""
    return max(1, -(-nbytes // _ROUNDING)) * _ROUNDING


def blocks(*sizes: int) -> int:
    """The sum of the blocks of several requests."""
    return sum(block(size) for size in sizes)
