"""set-to-none: gradients are dropped instead of filled with zeros; with `place=after-step`, straight after the step.

Note [Gradients in forward]
~~~~~~~~~~~~~~~~~~~~~~~~~~~
The remedy helps only if gradients are alive in the next forward. A program that drops gradients before forward gains nothing from dropping
them straight after `step`, and `place=after-step` reports so. A program that never calls `zero_grad` lets gradients add up, on purpose or
not, and is unchanged; so is the first step of a program before its first `zero_grad`.
"""

import inspect
import weakref

import torch
from torch.nn.modules import module as nn_module
from torch.optim import optimizer as optim

from ..hooks import events
from ..process import frames
from . import Remedy
from .actions import move_zero_grad, set_argument


def install(remedy: Remedy) -> None:
    """`zero_grad(set_to_none=True)` wherever the program calls it, or also straight after each step."""
    place = remedy.settings.get("place")
    if place not in (None, "after-step"):
        return remedy.rejected(f"place={place}: expected after-step", at=("", 0))
    remedy.otherwise = "the program never calls zero_grad: its gradients add up from step to step"
    gradients = _AfterStep(remedy) if place else _InPlace(remedy)

    def layer(zero_grad, owner, set_to_none: bool = True) -> None:
        if not set_to_none:
            remedy.applied("zero_grad(set_to_none=True)", action=set_argument("zero_grad", "set_to_none", "True"))
        zero_grad(owner)
        gradients.zeroed(not set_to_none)

    events.around_zero_grad(layer)


class _InPlace:
    """Reports calls that drop gradients already, without a place."""

    def __init__(self, remedy: Remedy) -> None:
        self._remedy = remedy

    def zeroed(self, is_changed: bool) -> None:
        """The program has called `zero_grad`."""
        if not is_changed:
            self._remedy.rejected("zero_grad sets gradients to None already")


class _AfterStep:
    """Drops gradients after each step. See Note [Gradients in forward]."""

    def __init__(self, remedy: Remedy) -> None:
        self._remedy = remedy
        self._is_called = False
        # Optimizers that have made a step and seen no `zero_grad` since: the line of the step.
        self._waiting: weakref.WeakKeyDictionary[torch.optim.Optimizer, tuple[str, int]] = weakref.WeakKeyDictionary()
        self._has_run_forward = False
        optim.register_optimizer_step_post_hook(self._stepped)
        nn_module.register_module_forward_pre_hook(self._forward)

    def zeroed(self, _is_changed: bool) -> None:
        """The program has called `zero_grad`: in time, or after a forward has begun."""
        self._is_called = True
        for at in self._waiting.values():
            if self._has_run_forward:
                self._remedy.applied("zero_grad(set_to_none=True) straight after step", at=at, action=move_zero_grad())
            else:
                self._remedy.rejected("zero_grad comes before the next forward already", at=at)
        self._waiting.clear()

    def _stepped(self, optimizer: torch.optim.Optimizer, _args, _kwargs) -> None:
        self._has_run_forward = False
        self._waiting[optimizer] = frames.users_line(inspect.currentframe())
        if self._is_called:
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    parameter.grad = None

    def _forward(self, _module, _args) -> None:
        self._has_run_forward = True
