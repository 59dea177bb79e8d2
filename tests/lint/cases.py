"""The measured pairs of the lint rules: a program with the mistake, the same program without it, and the difference between them.

A pair is the section `## Measured` of `crates/lint/cases/RULE.md`: the blocks `mistake` and `clean` are the programs, the block `measured`
is an expression `Pair(...)`. The expression computes the difference from the shapes in the programs; no number is copied from a run. The
names below are byte counts fixed by PyTorch or NVIDIA, and shapes that several pairs share. Sizes are multiples of the allocator's 512 bytes
unless `_block` rounds them.
"""

import re
from dataclasses import dataclass
from pathlib import Path

PAGES = Path(__file__).resolve().parents[2] / "crates" / "lint" / "cases"
BLOCK = re.compile(r"^```python (measured|mistake|clean)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

FLOAT, INT64, BF16 = 4, 8, 2
KIB, MIB = 1 << 10, 1 << 20
# PyTorch's default workspace of cuBLAS, `:4096:2:16:8` per thread and stream, and of cuBLASLt, 1 MiB.
CUBLAS = 2 * 4096 * KIB + 8 * 16 * KIB
CUBLAS_LT = 1024 * KIB


def _block(size: int) -> int:
    """Rounds a request to the allocator's block size."""
    return -(-size // 512) * 512


SCALAR = _block(FLOAT)


def _linear(inputs: int, outputs: int, width: int = FLOAT) -> int:
    """Returns the bytes of weight and bias of a linear layer."""
    return _block(inputs * outputs * width) + _block(outputs * width)


# An output of 1024 samples and 1024 features.
OUT = 1024 * 1024 * FLOAT
# The parameters of two layers of 1024 by 1024; their gradients, or a copy, take as many bytes.
STUDENT = 2 * _linear(1024, 1024)
# Six layers of 1024 by 1024 save six outputs and compute one more; without a graph two outputs are alive at a time.
UNUSED_GRAPH = (6 + 1 - 2) * OUT
# Alive between the steps of a process that trains a linear layer: parameters, cuBLAS workspaces of forward and backward, the loss.
RANK = _linear(1024, 1024) + 2 * CUBLAS + CUBLAS_LT + SCALAR

CONTEXTS = "Contexts of workers that are spawned are not in PyTorch's counters"


@dataclass(frozen=True)
class Pair:
    """The statement of a block `measured` about a pair of programs."""

    # A count of `measures.py`, and the difference of the programs in it.
    measure: str
    difference: int | str
    # Processes that run the mistake and the clean program, and the GPUs visible to each.
    ranks: tuple[int, int] = (1, 1)
    gpus: int = 1
    # Why the difference is not the effect itself, for effects that no dry run shows; the page of the rule repeats these words.
    unmeasured: str | None = None
    # Another rule that the same mistake breaks.
    also: str | None = None
    # The rule of another mistake that shows once the first one is mended.
    remaining: str | None = None
    # A package that the programs import.
    needs: str | None = None
    # Bytes by which the difference may be off, for differences that do not depend on the allocator alone.
    tolerance: int = 0


@dataclass(frozen=True)
class Case:
    """A rule with its pair and the text of both programs."""

    rule: str
    pair: Pair
    mistake: str
    clean: str


def read_case(page: Path) -> Case | None:
    """Reads the measured pair of a page of cases; `None` if the page has none."""
    blocks = dict(BLOCK.findall(page.read_text(encoding="utf-8")))
    if not blocks:
        return None
    missing = {"measured", "mistake", "clean"} - blocks.keys()
    assert not missing, f"{page}: found the blocks {sorted(blocks)}, expected also {sorted(missing)}"
    pair = eval(blocks["measured"], globals())
    assert isinstance(pair, Pair), f"{page}: found {pair!r} in the block `measured`, expected `Pair(...)`"
    return Case(page.stem, pair, blocks["mistake"], blocks["clean"])


def read_cases() -> list[Case]:
    """Reads the measured pairs of all rules, ordered by rule."""
    return [case for page in sorted(PAGES.glob("*.md")) if (case := read_case(page))]
