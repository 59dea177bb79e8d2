"""The evaluation loop of transformers' `Trainer`, which keeps losses, and with metrics the logits, until its end.

A pass ends with `on_prediction_step`.
"""

import sys
from types import FrameType

import torch

from ... import hooks
from ...process import local_variables
from ..passes import Control
from .evaluating import Evaluating
from .trainer import MODULE, find_loader

_LOOPS = ("evaluation_loop", "prediction_loop")


def install(control: Control) -> None:
    """Waits for the import of the library."""
    running: list[Evaluating] = []

    def evaluate(call, *args, **kwargs):
        running.append(Evaluating(control, sys._getframe(1)))
        try:
            return call(*args, **kwargs)
        finally:
            running.pop().end()

    def end_pass(call, handler, *args, **kwargs):
        if running and control.applies():
            frame = local_variables.find_frame(sys._getframe(1), _LOOPS, MODULE)
            loader = find_loader(getattr(handler, "eval_dataloader", None))
            running[-1].end_pass(loader, lambda over: None, lambda ran, over: _extend(frame, ran, over))
        return call(handler, *args, **kwargs)

    for name in _LOOPS:
        hooks.around(f"{MODULE}:Trainer.{name}", evaluate)
    hooks.around("transformers.trainer_callback:CallbackHandler.on_prediction_step", end_pass)


def _extend(frame: FrameType | None, ran: int, over: int) -> bool:
    """Lengthens the containers of the loop by what the passes that were jumped over would have added; False for other versions."""
    variables = {} if frame is None else local_variables.read_all(frame, list(frame.f_code.co_varnames))
    found = [it for it in variables.values() if type(it).__name__ == "EvalLoopContainer"]
    for each in found:
        each.tensors = lengthen(each.tensors, ran, over)
    return bool(found)


def lengthen(kept: object, ran: int, over: int) -> object:
    """Tensors of `ran` batches, with rows for `over` batches more."""
    if isinstance(kept, torch.Tensor):
        rows = kept.shape[0] // ran * over if kept.dim() else 0
        return torch.cat([kept, kept.new_empty((rows, *kept.shape[1:]))]) if rows else kept
    if isinstance(kept, (list, tuple)):
        return type(kept)(lengthen(it, ran, over) for it in kept)
    if isinstance(kept, dict):
        return type(kept)({name: lengthen(it, ran, over) for name, it in kept.items()})
    return kept
