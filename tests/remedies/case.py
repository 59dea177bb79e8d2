"""What a case of the remedies is, and the arithmetic that its expected bytes are made of."""

from dataclasses import dataclass

# PyTorch 2.11, c10/cuda/CUDACachingAllocator.h: blocks are multiples of 512 B.
_ROUNDING = 512


@dataclass(frozen=True)
class Case:
    """A program, run as it is and with a remedy. All bytes are `allocated` at the peak."""

    # `programs/PROGRAM.py`.
    program: str
    # What `oomph check --with` is given.
    remedy: str
    # The peak of the program as it is. None, here and for `after`, where too much of a library is in it to be reckoned: then
    # the patched source must be there to compare with, and the peak must be lower.
    before: int | None
    # The peak with the remedy; where it does not apply, `before` once more.
    after: int | None
    # What the report's notes say of the remedy: each text is part of one of them.
    notes: tuple[str, ...]
    # The same change made in the source, as `(old, new)`, each `old` being there once: it must reach the same peaks. None
    # where nothing is changed.
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
    # Packages that must not be there.
    lacks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What it is called in the table and on the command line."""
        return " ".join((self.remedy, self.program, *self.arguments, *self.options, *(f"without {package}" for package in self.lacks)))


def block(nbytes: int) -> int:
    """What the allocator takes for a request of so many bytes that is not a large one cut from a larger segment."""
    return max(1, -(-nbytes // _ROUNDING)) * _ROUNDING


def blocks(*sizes: int) -> int:
    """The sum of the blocks of several requests."""
    return sum(block(size) for size in sizes)
