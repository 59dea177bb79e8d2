"""The loops of Lightning, in a package of either name: the batches of an epoch, those of a validation, and the epochs.

The counters are attributes of the loops (`batch_progress`, `optim_progress`, `epoch_progress`), of the fetcher, and of the combined loader's
iterator, in Lightning 2.0 to 2.6.
"""

import sys
from collections.abc import Iterable
from functools import partial

from ... import hooks
from ...failure import guarded
from .. import loaders
from ..loaders import LoaderPasses
from ..passes import Control
from .conditions import list_conditions
from .due import Due
from .evaluating import Evaluating
from .training import MOST_AHEAD, Place, Training, run_training

PACKAGES = ("lightning.pytorch", "pytorch_lightning")


def install(control: Control) -> None:
    """Waits for the import of the library."""
    trainings: list[Training] = []
    running: list[Evaluating] = []

    def fit(call, *args, **kwargs):
        return run_training(trainings, Training(control, sys._getframe(1)), lambda: call(*args, **kwargs))

    def begin_epoch(call, *args, **kwargs):
        if trainings and control.applies():
            trainings[-1].begin_epoch()
        return call(*args, **kwargs)

    def end_batch(call, loop, fetcher, *args, **kwargs):
        is_step = trainings and control.applies() and not guarded(loop._should_accumulate)()
        if is_step:
            trainings[-1].end_step()
        answer = call(loop, fetcher, *args, **kwargs)
        if is_step:
            trainings[-1].go_on(guarded(_find_place)(loop, fetcher))
        return answer

    def evaluate(call, loop, *args, **kwargs):
        running.append(Evaluating(control, sys._getframe(1)))
        try:
            return call(loop, *args, **kwargs)
        finally:
            running.pop().end()

    def end_evaluation_step(call, loop, *args, **kwargs):
        answer = call(loop, *args, **kwargs)
        if running and control.applies():
            fetcher = loop._data_fetcher
            running[-1].end_pass(guarded(_find_loader)(fetcher), partial(_raise_batches, loop, fetcher), lambda ran, over: False)
        return answer

    for package in PACKAGES:
        name = f"{package}.loops"
        hooks.around(f"{name}.fit_loop:_FitLoop.run", fit)
        hooks.around(f"{name}.training_epoch_loop:_TrainingEpochLoop.on_run_start", begin_epoch)
        hooks.around(f"{name}.training_epoch_loop:_TrainingEpochLoop.on_advance_end", end_batch)
        hooks.around(f"{name}.evaluation_loop:_EvaluationLoop.run", evaluate)
        hooks.around(f"{name}.evaluation_loop:_EvaluationLoop._evaluation_step", end_evaluation_step)


class _LightningPlace(Place):
    def __init__(self, loop: object, fetcher: object) -> None:
        self._loop = loop
        self._fetcher = fetcher
        self._trainer = trainer = loop.trainer
        self.steps = loop.global_step
        self.position, self.batches = loop.batch_progress.current.ready, trainer.num_training_batches
        self.group = trainer.accumulate_grad_batches
        self._first_epoch = trainer.fit_loop.epoch_progress.current.processed
        self._steps_of_epoch = -(-self.batches // self.group)
        epochs = trainer.fit_loop.max_epochs
        limits = [it for it in (loop.max_steps, epochs * self._steps_of_epoch if epochs and epochs > 0 else -1) if it > 0]
        self.all_steps = min(limits, default=None)
        self.loader = _find_loader(fetcher)
        self.ahead = 0 if self.loader is None else self.loader.position - self.position

    def list_due(self) -> dict[str, Due]:
        """The validation, and the checkpoints of steps."""
        trainer = self._trainer
        every = trainer.val_check_batch
        saves = [it for each in trainer.checkpoint_callbacks if type(it := getattr(each, "_every_n_train_steps", 0)) is int and it > 0]
        owners = (trainer.lightning_module, *trainer.callbacks)
        return {
            "validation": Due(every // self.group if _is_count(every) else 0),
            **{f"save {it}": Due(it) for it in saves},
            **list_conditions(owners, {"global_step": 1, "batch_idx": self.group}),
        }

    def jump(self, landing: int) -> bool:
        """Raises the counters of the loops."""
        over = landing - self.position
        if self.loader is None or not self.loader.jump(landing + self.ahead):
            return False
        _raise_batches(self._loop, self._fetcher, over)
        self._raise_steps(over // self.group)
        return True

    def skip_epochs(self, dues: Iterable[int]) -> bool:
        """Raises the counters of the epochs."""
        epoch = self._first_epoch
        over = min(((it - 1) // self._steps_of_epoch for it in dues), default=epoch) - epoch
        if over <= 0 or self._trainer.check_val_every_n_epoch not in (None, 1):
            return False
        epochs = self._trainer.fit_loop.epoch_progress
        for each, more in ((epochs.total, over), (epochs.current, over), (self._loop.batch_progress.total, over * self.batches)):
            for name in ("ready", "started", "processed", "completed"):
                setattr(each, name, getattr(each, name) + more)
        self._raise_steps(over * self._steps_of_epoch)
        return True

    def _raise_steps(self, steps: int) -> None:
        loop = self._loop
        self.steps += steps
        loop._batches_that_stepped += steps
        total = loop.automatic_optimization.optim_progress.optimizer.step.total
        total.ready, total.completed = total.ready + steps, total.completed + steps


def _is_count(value: object) -> bool:
    return type(value) is int and value > 0


def _find_place(loop: object, fetcher: object) -> Place | None:
    """The place of a loop; `None` if the library, or the program's use of it, is not as expected."""
    trainer = loop.trainer
    is_plain = trainer.lightning_module.automatic_optimization and _is_count(trainer.num_training_batches) and not trainer.should_stop
    found = _LightningPlace(loop, fetcher) if is_plain else None
    return found if found is not None and found.loader is not None and 0 <= found.ahead <= MOST_AHEAD else None


def _raise_batches(loop: object, fetcher: object, over: int) -> None:
    loop.batch_progress.increment_by(over)
    fetcher.fetched += over
    fetcher.combined_loader._iterator._idx += over


def _find_loader(fetcher: object) -> LoaderPasses | None:
    """The open iterator of a fetcher with one loader; `None` for several, and for one that ends before its own end."""
    combined = fetcher.combined_loader
    if len(combined.flattened) != 1 or type(getattr(combined._iterator, "_idx", None)) is not int:
        return None
    found = next((it for it in reversed(list(loaders.opened)) if it.loader is combined.flattened[0]), None)
    limit = combined.limits[0] if combined.limits else None
    return found if found is not None and limit in (None, float("inf"), found.total) else None
