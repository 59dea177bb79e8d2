"""`OomphCallback` for transformers' Trainer::

    from oomph.callbacks.transformers import OomphCallback

    trainer = Trainer(..., callbacks=[OomphCallback()])

With each log of the trainer one of the memory follows, by the trainer's own `log`: it is in `state.log_history`, and in every tracker of `report_to`.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from transformers import Trainer, TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from .figures import MemoryMeter

__all__ = ["OomphCallback"]


class OomphCallback(TrainerCallback):
    """Logs the memory of the GPU beside the loss. `trainer` is needed only where a trainer calls its callbacks in a way of its own."""

    def __init__(self, trainer: Trainer | None = None) -> None:
        self._trainer = trainer
        self._meter = MemoryMeter()
        self._is_logging = False

    def on_init_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        """Remembers the trainer."""
        self._find_trainer()

    def on_train_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        """Remembers the trainer, for a callback that was added later."""
        self._find_trainer()

    def on_log(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, logs: dict[str, float] | None = None, **kwargs: Any) -> None:
        """Logs the figures after the trainer's own of a training step."""
        # The log of the figures comes here, too.
        if self._is_logging or not logs or "loss" not in logs:
            return
        figures = self._meter.read(state.global_step)
        if not figures:
            return
        if self._trainer is None:
            self._meter.turn_off("the trainer is unknown, so no memory is logged; `OomphCallback(trainer)` names it")
            return
        self._is_logging = True
        try:
            self._trainer.log(dict(figures))
        finally:
            self._is_logging = False

    def _find_trainer(self) -> None:
        """Takes the trainer from the stack: events of a callback carry the model and the loaders, but not the trainer."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and self._trainer is None:
            caller = frame.f_locals.get("self")
            if isinstance(caller, Trainer):
                self._trainer = caller
            frame = frame.f_back
