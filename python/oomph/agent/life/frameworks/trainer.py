"""The training loop of transformers' `Trainer`, and of the trainers derived from it (TRL, sentence-transformers).

A pass is an optimizer step with all its batches. It ends with `_maybe_log_save_evaluate`, in transformers 4.0 to 5. The variables `step`
(the batch in the epoch) and `epoch` are those of the function that runs an epoch.
"""

import sys
from collections.abc import Iterable
from types import FrameType

from ... import hooks
from ...failure import guarded
from ...process import local_variables
from .. import loaders
from ..loaders import LoaderPasses
from ..passes import Control
from .conditions import list_conditions
from .due import Due
from .training import MOST_AHEAD, Place, Training, run_training

MODULE = "transformers.trainer"
# The functions that run an epoch.
_EPOCHS = ("_run_epoch", "_inner_training_loop", "train")


def install(control: Control) -> None:
    """Waits for the import of the library."""
    trainings: list[Training] = []

    def train(call, trainer, *args, **kwargs):
        return run_training(trainings, Training(control, sys._getframe(1)), lambda: call(trainer, *args, **kwargs))

    def begin_epoch(call, *args, **kwargs):
        if trainings and control.applies():
            trainings[-1].begin_epoch()
        return call(*args, **kwargs)

    def end_step(call, trainer, *args, **kwargs):
        training = trainings[-1] if trainings and control.applies() else None
        if training is not None:
            training.end_step()
        answer = call(trainer, *args, **kwargs)
        if training is not None:
            training.go_on(guarded(_find_place)(trainer, sys._getframe(1)))
        return answer

    hooks.around(f"{MODULE}:Trainer.train", train)
    hooks.around("transformers.trainer_callback:CallbackHandler.on_epoch_begin", begin_epoch)
    hooks.around(f"{MODULE}:Trainer._maybe_log_save_evaluate", end_step)


class _TrainerPlace(Place):
    def __init__(self, trainer: object, frame: FrameType, step: int, batches: int) -> None:
        self._trainer = trainer
        self._frame = frame
        self.steps, self.all_steps = trainer.state.global_step, trainer.state.max_steps
        self.position, self.batches = step + 1, batches
        self.group = trainer.args.gradient_accumulation_steps
        self.loader = find_loader(getattr(trainer.callback_handler, "train_dataloader", None))
        self.ahead = 0 if self.loader is None else self.loader.position - self.position

    def list_due(self) -> dict[str, Due]:
        """The evaluation, the save and the log of `DefaultFlowCallback`."""
        args, state = self._trainer.args, self._trainer.state

        def every(strategy: str, steps: str) -> int:
            found = getattr(state, steps, None) or getattr(args, steps, 0)
            return found if getattr(args, strategy, None) == "steps" and type(found) is int else 0

        evaluation = "eval_strategy" if hasattr(args, "eval_strategy") else "evaluation_strategy"
        return {
            "evaluation": Due(every(evaluation, "eval_steps"), first=int(args.eval_delay)),
            "save": Due(every("save_strategy", "save_steps")),
            "log": Due(every("logging_strategy", "logging_steps"), least=1),
            **list_conditions((self._trainer, *self._trainer.callback_handler.callbacks), {"global_step": 1}),
        }

    def jump(self, landing: int) -> bool:
        """Raises `step`, and the trainer's counters."""
        if self.loader is not None and not self.loader.jump(landing + self.ahead):
            return False
        local_variables.assign(self._frame, "step", landing - 1)
        self._raise_steps((landing - self.position) // self.group)
        return True

    def skip_epochs(self, dues: Iterable[int]) -> bool:
        """Raises `epoch`."""
        epoch, steps = (local_variables.read(self._frame, name) for name in ("epoch", "num_update_steps_per_epoch"))
        if type(epoch) is not int or type(steps) is not int or steps < 1:
            return False
        over = min(((it - 1) // steps for it in dues), default=epoch) - epoch
        if over <= 0:
            return False
        local_variables.assign(self._frame, "epoch", epoch + over)
        self._raise_steps(over * steps)
        return True

    def end_epoch(self) -> None:
        """The variable that counts the steps of an epoch has missed those that were jumped over."""
        self._trainer.control.should_epoch_stop = True

    def _raise_steps(self, steps: int) -> None:
        self.steps += steps
        self._trainer.state.global_step += steps
        scheduler = self._trainer.lr_scheduler
        if type(getattr(scheduler, "last_epoch", None)) is int:
            scheduler.last_epoch += steps


def _find_place(trainer: object, frame: FrameType) -> Place | None:
    """The place of a trainer; `None` in the middle of a step, or if the library is not as expected."""
    frame, control = local_variables.find_frame(frame, _EPOCHS, MODULE), trainer.control
    if frame is None or control.should_training_stop or control.should_epoch_stop:
        return None
    step, batches = (local_variables.read(frame, name) for name in ("step", "steps_in_epoch"))
    if type(step) is not int or type(batches) is not int:
        return None
    found = _TrainerPlace(trainer, frame, step, batches)
    is_between = found.position % found.group == 0 or found.position >= batches
    return found if is_between and 0 <= found.ahead <= MOST_AHEAD else None


def find_loader(outer: object) -> LoaderPasses | None:
    """The open iterator of a loader, or of the loader inside one of accelerate's."""
    own = (outer, getattr(outer, "base_dataloader", None))
    return next((it for it in reversed(list(loaders.opened)) if it.loader is not None and it.loader in own), None)
