"""gradient-accumulation: the batch in k parts, one after the other, whose gradients add up before the optimizer steps.

Note [Accumulation]
~~~~~~~~~~~~~~~~~~~
A loop that is written for whole batches becomes one for micro-batches when three things are changed:

- each batch has a k-th of the examples (`batch_split`);
- `backward` runs on the loss divided by k, if the loss is a mean: a mean over k equal parts is the mean of their means.
  A loss that is a sum over the batch is not divided (`losses`);
- what belongs to a step takes effect at every k-th call: `step` of optimizers, schedulers and a `GradScaler`, unscaling and
  clipping of gradients; and `zero_grad` only where no gradients of a started step would be lost.

Libraries that accumulate by themselves (transformers' Trainer, Lightning) have a switch, which is set instead; this module's changes are
then off. Optimizers that take turns, as in a GAN, clear each other's gradients between steps. No gate can tell a foreign clear from an
optimizer's own, so these optimizers keep their steps.

Note [First step at once]
~~~~~~~~~~~~~~~~~~~~~~~~~
A dry run ends after a few steps, and a program that counts its batches itself (`for _ in range(3)`) ends after as many parts: before the
first step, so that the optimizer's state would be missing at the peak. If the remedy batch-size divides the batches, and the GPU is a
phantom, which computes nothing that could be wrong, the first call of `step` takes effect. From the second part after that call on,
gradients and state are alive as in every later part.
"""

import functools
import itertools
import weakref
from collections.abc import Callable

import torch

from .. import phantom
from ..hooks import around, events
from ..hooks.replacing import Layer
from ..hooks.rows.remedies import SCHEDULERS
from . import Remedy, is_asked
from .actions import gate_step, keep_loss, scale_loss
from .batch_split import BatchSplit
from .losses import is_sum
from .models import before_training, has_batch_norm


def install(remedy: Remedy) -> None:
    """Installs the remedy. `steps=k`: the number of micro-batches."""
    steps = remedy.settings.get("steps")
    if not isinstance(steps, int) or steps < 2:
        return remedy.rejected(f"steps={steps}: expected a number from 2")
    accumulation = Accumulation(remedy, steps)
    accumulation.split.install()
    accumulation.install()


class Accumulation:
    """The optimizers with gradients of a started step. See Note [Accumulation]."""

    def __init__(self, remedy: Remedy, steps: int) -> None:
        self.remedy = remedy
        self.steps = steps
        self.split = BatchSplit(remedy, steps)
        # Calls of `step` counted for an optimizer before its first call. See Note [First step at once].
        self._before_first = steps - 1 if is_asked("batch-size") and phantom.find() is not None else 0
        # Calls of `step` since the last that took effect.
        self._pending: weakref.WeakKeyDictionary[torch.optim.Optimizer, int] = weakref.WeakKeyDictionary()
        # Optimizers in the order of their first steps. An id() could be reused for another optimizer.
        self._numbers: weakref.WeakKeyDictionary[torch.optim.Optimizer, int] = weakref.WeakKeyDictionary()
        self._next_number = itertools.count()
        # The optimizers that stepped since the last backward, by number; and those after earlier backwards, wherever the set changed.
        self._stepped: dict[int, str] = {}
        self._turns: list[dict[int, str]] = []
        self._warning = ""

    def install(self) -> None:
        """Stands in for what belongs to a step."""
        before_training(self._look_at)
        between, last = self._only(self._is_between), self._only(self._is_last)
        around("torch._tensor:Tensor.backward", self._divide)
        around("torch.optim.optimizer:Optimizer.profile_hook_step", lambda hook, step: self._stepping(hook(step)))
        events.around_zero_grad(between)
        for name in SCHEDULERS:
            around(f"torch.optim.lr_scheduler:{name}.step", between)
        events.around_clip(self._only(self._is_last, otherwise=torch.zeros(())))
        events.around_unscale(last)
        around("torch.amp.grad_scaler:GradScaler.update", between)
        around("torch.amp.grad_scaler:GradScaler.step", self._step_scaled)

    def _look_at(self, root: torch.nn.Module, _is_compiled: bool) -> None:
        if has_batch_norm(root):
            self._warning = "; BatchNorm takes the statistics of a part, so results differ"

    @property
    def _is_on(self) -> bool:
        return self.split.is_ours

    def _is_between(self) -> bool:
        """True if no step is started."""
        return not any(self._pending.values())

    def _is_last(self) -> bool:
        """True if the next call of `step` takes effect."""
        counts = self._pending.values() or (self._before_first,)
        return any(pending == self.steps - 1 for pending in counts)

    def _only(self, condition: Callable[[], bool], otherwise=None) -> Layer:
        def layer(call, *args, **kwargs):
            return call(*args, **kwargs) if not self._is_on or condition() else otherwise

        return layer

    def _divide(self, backward, loss, *args, **kwargs):
        self.split.check()
        self._look_at_turns()
        if not self._is_on:
            return backward(loss, *args, **kwargs)
        if is_sum(loss):
            self.remedy.applied("backward() of the loss as it is: a sum over the batch", action=keep_loss())
            return backward(loss, *args, **kwargs)
        text = f"(loss / {self.steps}).backward(){self._warning}"
        self.remedy.applied(text, alters=bool(self._warning), action=scale_loss(self.steps))
        return backward(loss / self.steps, *args, **kwargs)

    def _look_at_turns(self) -> None:
        """Before a backward: whether the same optimizers stepped after the last one as some time ago, and others in between."""
        turns = self._turns
        if self._stepped and (not turns or turns[-1].keys() != self._stepped.keys()):
            turns.append(self._stepped)
        self._stepped = {}
        if self._is_on and len(turns) > 2 and turns[-1].keys() == turns[-3].keys():
            names = " and ".join({**turns[-2], **turns[-1]}.values())
            self.split.reject(f"{names} take turns: which gradients are whose is to be said by hand")

    def _stepping(self, step: Callable) -> Callable:
        @functools.wraps(step)
        def wrapper(optimizer, *args, **kwargs):
            if self._is_on and isinstance(optimizer, torch.optim.LBFGS):
                self.split.reject("LBFGS calls its closure several times in a step")
            if not self._is_on or self._counts_to_last(optimizer):
                return step(optimizer, *args, **kwargs)
            closure = kwargs.get("closure", args[0] if args else None)
            if closure is not None:
                with torch.enable_grad():
                    return closure()

        return wrapper

    def _step_scaled(self, step, scaler, optimizer, *args, **kwargs):
        if not self._is_on or self._pending.get(optimizer, self._before_first) == self.steps - 1:
            result = step(scaler, optimizer, *args, **kwargs)
            # Also where it found infinite gradients, and did not let the optimizer step.
            self._pending[optimizer] = 0
            return result
        self._counts_to_last(optimizer)
        return None

    def _counts_to_last(self, optimizer: torch.optim.Optimizer) -> bool:
        """Counts a call of `step`; True if this call takes effect."""
        if optimizer not in self._numbers:
            self._numbers[optimizer] = next(self._next_number)
        name = self._stepped[self._numbers[optimizer]] = type(optimizer).__name__
        pending = self._pending.get(optimizer, self._before_first) + 1
        is_last = pending == self.steps
        self._pending[optimizer] = 0 if is_last else pending
        action = gate_step(name, self.steps)
        self.remedy.applied(f"{name}.step() once in {self.steps} calls, and what belongs to it", action=action)
        return is_last
