"""A case of captures: a program, and a GPU's answers."""

from textwrap import dedent
from typing import Any, NamedTuple


class Case(NamedTuple):
    """A program that runs in its own process, after `import torch`.

    `raises` is about its first exception (the innermost `__context__`): the number of a CUDA error, or a piece of the text. `answer`, if
    not None, is the value of the program's variable `answer`. `settings` are PyTorch's allocator's. `is_sure` is False if no source was
    found for the answer.
    """

    name: str
    code: str
    raises: int | str | None
    answer: Any
    source: str
    settings: str
    is_sure: bool


def case(name: str, code: str, source: str, raises: int | str | None = None, answer: Any = None, settings: str = "", sure: bool = True) -> Case:
    """A case; without `raises` its program must end without an error."""
    return Case(name, dedent(code).strip() + "\n", raises, answer, source, settings, sure)
