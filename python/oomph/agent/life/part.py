"""The life of a job, as a part of the session."""

from collections.abc import Callable

import torch

from .. import records
from ..failure import guarded
from ..part import Part, Write
from ..process.environment import Environment
from . import calls
from .items import open_items
from .passes import Control
from .signature import Pulse


class Life(Part):
    """Shortens the program's loops, if the launcher asks for the whole life."""

    def __init__(self, env: Environment, count_work: Callable[[], int], count_steps: Callable[[], int]) -> None:
        self.is_on = env.life and env.world_size == 1
        self._control = Control(Pulse(count_work, count_steps), env.steps) if self.is_on else None

    def install(self, write: Write) -> None:
        """Shortens loops from now on."""
        if self._control is not None:
            calls.start(self._control, open_items, torch.compiler.is_compiling)

    def finish(self, reason: str, write: Write) -> None:
        """The records of the loops that were shortened."""
        if self._control is not None:
            self._write_shortened(write)

    @guarded
    def _write_shortened(self, write: Write) -> None:
        for run in self._control.shortened.values():
            write(records.shortened(file=run.loop.file, line=run.loop.line, passes=len(run.passes), total=run.total, reason=run.reason))
