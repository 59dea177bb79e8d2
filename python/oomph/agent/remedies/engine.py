"""The autograd engine as a hook for remedies that end or check something when backward begins."""

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager

import torch
import torch.autograd.graph


def around_backward(context: Callable[[], AbstractContextManager]) -> None:
    """Enters `context()` around every call of the engine. `backward.py` of the agent explains the choice of this entry."""
    run = torch.autograd.graph._engine_run_backward

    @functools.wraps(run)
    def wrapper(*args, **kwargs):
        if torch.compiler.is_compiling():
            return run(*args, **kwargs)
        with context():
            return run(*args, **kwargs)

    torch.autograd.graph._engine_run_backward = wrapper
    torch.autograd._engine_run_backward = wrapper
