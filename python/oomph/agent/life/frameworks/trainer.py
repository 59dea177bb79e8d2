"""The training loop of transformers' `Trainer`, and of the trainers derived from it (TRL, sentence-transformers).

A pass is an optimizer step with all its batches. It ends with `_maybe_log_save_evaluate`, in transformers 4.0 to 5. The variables `step`
(the batch in the epoch) and `epoch` are those of the function that runs an epoch.
"""

import sys
from types import FrameType

from ... import hooks
from ...failure import guarded
from ...process import frames, local_variables
from .. import loaders
from ..loaders import LoaderPasses
from ..passes import Control
from ..signature import Reading, between
from .due import Due, find_landing
from .watched import Watched, watch

_MODULE = "transformers.trainer"
# The functions that run an epoch.
_EPOCHS = ("_run_epoch", "_inner_training_loop", "train")
# The largest batches that are run.
_LARGEST = 2
# The most batches that a loop's loader may hold ahead.
_AHEAD = 2
# The epochs that run in any case.
_EPOCHS_RUN = 2


def install(control: Control) -> None:
    """Waits for the import of the library."""
    trainings: list[Training] = []

    def train(call, trainer, *args, **kwargs):
        trainings.append(Training(control, sys._getframe(1)))
        try:
            return call(trainer, *args, **kwargs)
        finally:
            trainings.pop().end()

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
            training.go_on(trainer, sys._getframe(1))
        return answer

    hooks.around(f"{_MODULE}:Trainer.train", train)
    hooks.around("transformers.trainer_callback:CallbackHandler.on_epoch_begin", begin_epoch)
    hooks.around(f"{_MODULE}:Trainer._maybe_log_save_evaluate", end_step)


class Training:
    """One call of `train`."""

    def __init__(self, control: Control, frame: FrameType) -> None:
        self._control = control
        self._loop: Watched = watch(*frames.users_line(frame))
        self._last: Reading = control.pulse.read()
        self._first_steps = self._last.steps
        self._due: dict[str, Due] = {}
        self._epochs = 0
        # The largest batches of the epoch; `None` while unknown.
        self._largest: list[int] | None = None
        # The bytes at the end of each epoch.
        self._left: list[int] = []

    @guarded
    def begin_epoch(self) -> None:
        """An epoch begins: what happened since the last step is no pass."""
        self._epochs += 1
        self._last = self._control.pulse.read()
        self._left.append(self._last.current_bytes)
        # Each epoch has an order of its own.
        self._largest = None
        self._loop.begin_again()
        self._control.stages.begin_loop(is_again=self._epochs > 1)

    @guarded
    def end_step(self) -> None:
        """A step was made; its evaluation is to come, if it is due."""
        now = self._control.pulse.read()
        if now.steps > self._last.steps:
            self._loop.end_pass(between(self._last, now))
        self._last = now

    @guarded
    def go_on(self, trainer: object, frame: FrameType) -> None:
        """Jumps to the next step that is to be seen, if steps repeat."""
        now = self._control.pulse.read()
        has_evaluated, self._last = now.work > self._last.work, now
        frame = local_variables.find_frame(frame, _EPOCHS, _MODULE)
        place = None if frame is None else Place.read(trainer, frame)
        if place is None or not self._loop.passes:
            return
        if self._note_due(trainer, place.steps, now.current_bytes) or has_evaluated:
            self._loop.begin_again()
        self._loop.total = trainer.state.max_steps
        if place.position >= place.batches:
            # The variable that counts an epoch's steps has missed those that were jumped over.
            trainer.control.should_epoch_stop = trainer.control.should_epoch_stop or self._loop.is_shortened
            return
        landing = self._choose(trainer, place, frame, now)
        if landing > place.position:
            self._jump(trainer, place, frame, landing)
        self._control.stages.begin_pass(any(landing <= it < landing + place.group for it in self._largest or ()))

    def _note_due(self, trainer: object, step: int, left: int) -> bool:
        """Notes the work of this step; True if more than a line was logged."""
        came = {name for name, due in _list_due(trainer).items() if due.comes_at(step)}
        for name, due in _list_due(trainer).items():
            due = self._due.setdefault(name, due)
            if name in came:
                due.left.append(left)
        return bool(came - {"log"})

    def _choose(self, trainer: object, place: "Place", frame: FrameType, now: Reading) -> int:
        """The batch from which the loop goes on."""
        loader = place.loader
        varies = loader is not None and not loader.are_alike
        if now.steps - self._first_steps < self._control.wanted or self._loop.find_period(varies) is None:
            return place.position
        if varies and self._largest is None:
            self._loop.scan, self._largest = loader.scan, list(loader.list_largest(_LARGEST) or ())
            self._loop.reason = "largest" if self._largest and self._loop.reason != "varying" else "varying"
        self._skip_epochs(trainer, place, frame)
        dues = [*(due.next(place.steps) for due in self._due.values()), trainer.state.max_steps]
        batches = [place.batch_of(it) for it in dues if it is not None and it > place.steps]
        # The batch of a step that does something else is any batch; one of the largest, and the last, are those of the loader.
        landings = [it for it in batches if it < place.batches]
        landings += [find_landing(place.position, it, place.ahead, place.group) for it in (*(self._largest or ()), place.batches - 1) if it >= place.position]
        return min(landings)

    def _jump(self, trainer: object, place: "Place", frame: FrameType, landing: int) -> None:
        if place.loader is not None and not place.loader.jump(landing + place.ahead):
            return
        self._loop.is_shortened = True
        self._loop.begin_again()
        local_variables.assign(frame, "step", landing - 1)
        _raise_steps(trainer, (landing - place.position) // place.group)

    def _skip_epochs(self, trainer: object, place: "Place", frame: FrameType) -> None:
        """Takes this epoch for the next one in which something is to be seen, if the epochs so far have left the same memory."""
        epoch, steps = (local_variables.read(frame, name) for name in ("epoch", "num_update_steps_per_epoch"))
        if self._epochs <= _EPOCHS_RUN or self._left[-1] != self._left[-2] or type(epoch) is not int or type(steps) is not int or not steps:
            return
        dues = [*(due.next(place.steps) for due in self._due.values()), trainer.state.max_steps]
        over = min((it - 1) // steps for it in dues if it is not None) - epoch
        if over > 0:
            local_variables.assign(frame, "epoch", epoch + over)
            _raise_steps(trainer, over * steps)
            place.steps += over * steps
            self._loop.is_shortened = True

    @guarded
    def end(self) -> None:
        """The training is over."""
        self._control.stages.end_training()


class Place:
    """Where the loop is."""

    def __init__(self, steps: int, position: int, batches: int, group: int, loader: LoaderPasses | None, ahead: int) -> None:
        # Optimizer steps so far.
        self.steps = steps
        # The batch to come, and all batches of the epoch.
        self.position = position
        self.batches = batches
        # The batches of a step.
        self.group = group
        self.loader = loader
        # The batches that were fetched, and that the loop has not run.
        self.ahead = ahead

    @classmethod
    def read(cls, trainer: object, frame: FrameType) -> "Place | None":
        """The place of a trainer; `None` if the library is not as expected, or at the end of an epoch."""
        step, batches = (local_variables.read(frame, name) for name in ("step", "steps_in_epoch"))
        group = trainer.args.gradient_accumulation_steps
        if type(step) is not int or type(batches) is not int or type(group) is not int:
            return None
        if (step + 1) % group and step + 1 < batches:
            return None
        loader = _find_loader(trainer)
        ahead = 0 if loader is None else loader.position - step - 1
        return cls(trainer.state.global_step, step + 1, batches, group, loader, ahead) if 0 <= ahead <= _AHEAD else None

    def batch_of(self, step: int) -> int:
        """The first batch of an optimizer step, in this epoch."""
        return self.position + (step - 1 - self.steps) * self.group


def _find_loader(trainer: object) -> LoaderPasses | None:
    """The open iterator of the training's loader."""
    outer = getattr(trainer.callback_handler, "train_dataloader", None)
    own = (outer, getattr(outer, "base_dataloader", None))
    return next((it for it in reversed(list(loaders.opened)) if it.loader is not None and it.loader in own), None)


def _list_due(trainer: object) -> dict[str, Due]:
    """What comes due after steps, by its kind."""
    args, state = trainer.args, trainer.state

    def every(strategy: str, steps: str) -> int:
        found = getattr(state, steps, None) or getattr(args, steps, 0)
        return found if getattr(args, strategy, None) == "steps" and type(found) is int else 0

    evaluation = "eval_strategy" if hasattr(args, "eval_strategy") else "evaluation_strategy"
    return {
        "evaluation": Due(every(evaluation, "eval_steps"), first=int(args.eval_delay)),
        "save": Due(every("save_strategy", "save_steps")),
        "log": Due(every("logging_strategy", "logging_steps"), least=1),
    }


def _raise_steps(trainer: object, steps: int) -> None:
    """Raises the counters by the steps that were jumped over."""
    trainer.state.global_step += steps
    scheduler = trainer.lr_scheduler
    if type(getattr(scheduler, "last_epoch", None)) is int:
        scheduler.last_epoch += steps
