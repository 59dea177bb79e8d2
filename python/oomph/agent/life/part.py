"""The life of a job, as a part of the session."""

import torch

from .. import records
from ..ahead.unnoted import list_called
from ..failure import guarded
from ..part import Part, Write
from ..position.part import Position
from ..process.environment import Environment
from ..source.flow import has_condition
from . import calls, frameworks, loaders
from .items import open_items
from .passes import Control
from .run import Run
from .signature import Pulse
from .stages import Stages


class Life(Part):
    """Shortens the program's loops, if the launcher asks for the whole life."""

    def __init__(self, env: Environment, position: Position) -> None:
        self.is_on = env.life and env.world_size == 1
        self._control: Control | None = None
        self._steps = position.steps
        if self.is_on:
            self._stages = Stages(position.marks.enter_stage, step=lambda: position.marks.step)
            self._control = Control(Pulse(position.count_work, lambda: position.steps.done), self._stages, env.steps, position.marks.skip_steps)
            position.course.is_whole = True
            position.modules.on_call = self._stages.begin_forward
            position.backward.on_call = self._stages.train

    def install(self, write: Write) -> None:
        """Shortens loops from now on."""
        if self._control is not None:
            self._stages.install(write)
            loaders.install()
            frameworks.install(self._control)
            calls.start(self._control, open_items, torch.compiler.is_compiling)

    def finish(self, reason: str, write: Write) -> None:
        """The records of the loops that were shortened."""
        if self._control is not None:
            self._write_shortened(write)
            if reason == "exit":
                self._write_untaken(write)

    @guarded
    def _write_untaken(self, write: Write) -> None:
        for row in self._control.untaken.list_records():
            write(row)
        for item in list_called(self._steps.optimizers) if self._control.shortened else ():
            write(records.ahead(reason=item.reason, what=item.what, file=item.file, line=item.line, shares_line=has_condition(item.file, item.line)))

    @guarded
    def _write_shortened(self, write: Write) -> None:
        for run in self._control.shortened.values():
            self._write_loop(write, run.loop.file, run.loop.line, len(run.passes), run)
        for loop in frameworks.list_shortened():
            self._write_loop(write, loop.file, loop.line, loop.passes, loop)

    def _write_loop(self, write: Write, file: str, line: int, passes: int, loop: Run | frameworks.Watched) -> None:
        """The record of a loop, and that of its batches if the batches were scanned."""
        scan = loop.scan
        if scan is not None and (scan.scanned or scan.bound):
            row = {"scanned": scan.scanned, "total": scan.total, "largest": scan.largest, "shape": scan.shape, "bound": scan.bound}
            write(records.batches(file=file, line=line, **row))
        write(records.shortened(file=file, line=line, passes=passes, total=loop.total, reason=loop.reason))
