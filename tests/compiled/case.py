"""A case of compiled programs: a program that runs twice, eager and compiled, and the bounds of the compiled one's peak."""

from textwrap import dedent
from typing import NamedTuple


class Case(NamedTuple):
    """A program that runs in its own process, after `import torch`, `nn` and `F`, with its device in `device`.

    In the program `compiled(function, **options)` is `torch.compile`, and in its eager twin the function itself. Both must end without an
    error, with equal values of the variable `answer`. The peak of allocated bytes of the compiled program is at least `low` and at most
    `high` times its twin's.
    """

    name: str
    code: str
    low: float
    high: float
    # True for `make test`; the other cases run with `--all`.
    is_usual: bool
    # True if the sizes of the compiled program may differ from its twin's: kernels that the compiler made compute no values.
    is_free: bool


def case(name: str, code: str, low: float = 0.4, high: float = 1.3, usual: bool = False, free: bool = False) -> Case:
    """A case. Without `low` and `high` the compiler may keep less than eager PyTorch, by fusion, and allocates little besides."""
    return Case(name, dedent(code).strip() + "\n", low, high, usual, free)
