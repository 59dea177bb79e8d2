"""Limits that the program sets for itself."""

import functools
import sys
from collections.abc import Callable

from .. import hooks, records
from ..failure import guarded
from ..hooks import events
from ..process import frames


def install(write: Callable[[dict], object]) -> None:
    """Records calls of `torch.cuda.set_per_process_memory_fraction`."""
    hooks.around("torch.cuda.memory:set_per_process_memory_fraction", events.after(functools.partial(_note, write)))


@guarded
def _note(write: Callable[[dict], object], fraction: float, *_args, **_kwargs) -> None:
    file, line = frames.users_line(sys._getframe())
    write(records.fraction(fraction=float(fraction), file=file, line=line))
