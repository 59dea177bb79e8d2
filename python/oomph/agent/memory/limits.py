"""Limits that the program sets for itself."""

import functools
import sys
from collections.abc import Callable

import torch

from .. import records
from ..process import frames
from ..failure import guarded


def install(write: Callable[[dict], object]) -> None:
    """Records calls of `torch.cuda.set_per_process_memory_fraction`."""
    original = torch.cuda.set_per_process_memory_fraction
    note = guarded(_note)

    @functools.wraps(original)
    def wrapper(fraction, *args, **kwargs):
        result = original(fraction, *args, **kwargs)
        note(write, fraction)
        return result

    for module in (torch.cuda, torch.cuda.memory):
        module.set_per_process_memory_fraction = wrapper


def _note(write: Callable[[dict], object], fraction: float) -> None:
    file, line = frames.users_line(sys._getframe())
    write(records.fraction(fraction=float(fraction), file=file, line=line))
