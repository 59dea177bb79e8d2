"""The evaluation loop of transformers' `Trainer`, which keeps logits and losses until its end.

A pass ends with `on_prediction_step`. What is kept grows with every pass: the loop runs in full, as long as it takes little time. After that the
containers are given the length that they would have had, if all passes were alike, and the last batches run.
"""

import sys
import time

import torch

from ... import hooks
from ...failure import guarded
from ...process import frames, local_variables
from .. import loaders
from ..loaders import LoaderPasses
from ..passes import Control
from ..signature import Pass, Reading, between, find_period
from .watched import Watched, watch

_MODULE = "transformers.trainer"
_LOOPS = ("evaluation_loop", "prediction_loop")
# The processor seconds of one loop whose memory grows, and of all.
_SECONDS, _ALL_SECONDS = 20.0, 40.0
# Passes that show how much is kept.
_ALIKE = 8
_LARGEST = 2


def install(control: Control) -> None:
    """Waits for the import of the library."""
    running: list[Evaluation] = []
    spent = [0.0]

    def evaluate(call, trainer, *args, **kwargs):
        running.append(Evaluation(control, sys._getframe(1), spent))
        try:
            return call(trainer, *args, **kwargs)
        finally:
            running.pop().end()

    def end_pass(call, *args, **kwargs):
        if running and control.applies():
            running[-1].end_pass(args[0], sys._getframe(1))
        return call(*args, **kwargs)

    for name in _LOOPS:
        hooks.around(f"{_MODULE}:Trainer.{name}", evaluate)
    hooks.around("transformers.trainer_callback:CallbackHandler.on_prediction_step", end_pass)


class Evaluation:
    """One run of the loop."""

    def __init__(self, control: Control, frame: object, spent: list[float]) -> None:
        self._control = control
        self._loop: Watched = watch(*frames.users_line(frame), part="evaluation")
        self._last: Reading = control.pulse.read()
        self._passes: list[Pass] = []
        self._start = time.process_time()
        self._spent = spent
        self._largest: list[int] | None = None

    @guarded
    def end(self) -> None:
        """The loop has ended."""
        self._spent[0] += time.process_time() - self._start

    @guarded
    def end_pass(self, handler: object, frame: object) -> None:
        """Notes a pass, and jumps if passes repeat or take too long."""
        now = self._control.pulse.read()
        self._passes.append(between(self._last, now))
        self._last = now
        self._loop.passes += 1
        loader = _find_loader(handler)
        if loader is None or loader.total is None:
            return
        self._loop.total = loader.total
        period = self._find_period(loader)
        if period is not None:
            self._jump(loader, local_variables.find_frame(frame, _LOOPS, _MODULE), period)
        self._last = self._control.pulse.read()

    def _find_period(self, loader: LoaderPasses) -> int | None:
        if len(self._passes) < _ALIKE:
            return None
        period = find_period(self._passes)
        if period is not None and loader.are_alike:
            return period
        used = time.process_time() - self._start
        return 1 if used > _SECONDS or used + self._spent[0] > _ALL_SECONDS else None

    def _jump(self, loader: LoaderPasses, frame: object, period: int) -> None:
        ran = len(self._passes)
        self._largest = self._largest if self._largest is not None else list(loader.list_largest(_LARGEST) or ())
        targets = [it for it in (*self._largest, loader.total - 1) if it > loader.position]
        if not targets:
            return
        over = (min(targets) - loader.position) // period * period
        if over <= 0 or not loader.jump(loader.position + over):
            return
        self._loop.is_shortened = True
        if self._passes[-1].current_bytes != self._passes[-period - 1].current_bytes:
            self._loop.reason = "alike" if frame is not None and loader.are_alike and _extend(frame, ran, over) else "cut"
        elif not loader.are_alike:
            self._loop.reason = "largest" if self._largest else "varying"


def _extend(frame: object, ran: int, over: int) -> bool:
    """Lengthens what the loop keeps by what the passes that were jumped over would have added; False if it keeps something else."""
    found = [it for it in local_variables.read_all(frame, list(frame.f_code.co_varnames)).values() if type(it).__name__ == "EvalLoopContainer"]
    if not found:
        return False
    for each in found:
        each.tensors = _lengthen(each.tensors, ran, over)
    return True


def _lengthen(kept: object, ran: int, over: int) -> object:
    if isinstance(kept, torch.Tensor) and kept.dim():
        rows = kept.shape[0] // ran * over
        return torch.cat([kept, kept.new_empty((rows, *kept.shape[1:]))])
    if isinstance(kept, (list, tuple)):
        return type(kept)(_lengthen(it, ran, over) for it in kept)
    if isinstance(kept, dict):
        return type(kept)({name: _lengthen(it, ran, over) for name, it in kept.items()})
    return kept


def _find_loader(handler: object) -> LoaderPasses | None:
    """The open iterator of the evaluation's loader."""
    outer = getattr(handler, "eval_dataloader", None)
    own = (outer, getattr(outer, "base_dataloader", None))
    return next((it for it in reversed(list(loaders.opened)) if it.loader is not None and it.loader in own), None)
