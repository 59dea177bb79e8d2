"""Optimizer steps: their count, the records around each, and the stop after the requested number."""

import functools
import os
import sys
import weakref
from collections.abc import Callable
from types import FrameType

import torch
from torch.optim import optimizer as optim

from ..failure import guarded
from ..hooks import events
from ..process import frames
from .course import Course
from .marks import Marks
from .untrained import list_untrained


class Steps:
    """The hooks on every optimizer's `step`.

    The current step is one more than the largest count of any optimizer: two optimizers that take turns make one step. A step that finds no
    gradient trains nothing and is not counted.
    """

    def __init__(
        self,
        marks: Marks,
        course: Course,
        before: Callable[[], object],
        after: Callable[[], object],
        stop: Callable[[], object],
    ) -> None:
        self.marks = marks
        self.course = course
        # All that were constructed, stepped or not, and where.
        self.optimizers: weakref.WeakKeyDictionary[torch.optim.Optimizer, tuple[str, int]] = weakref.WeakKeyDictionary()
        self._counts: weakref.WeakKeyDictionary[torch.optim.Optimizer, int] = weakref.WeakKeyDictionary()
        self._most = 0
        # The line that cleared the gradients last.
        self.zeroed_at: tuple[str, int] | None = None
        self._before = before
        self._after = after
        self._stop = stop
        self._stopped = False

    @property
    def done(self) -> int:
        """Steps done: the largest count, also of an optimizer that is gone."""
        return self._most

    def install(self) -> None:
        """Hooks every optimizer there is and will be."""
        optim.register_optimizer_step_pre_hook(self._pre_hook)
        optim.register_optimizer_step_post_hook(self._post_hook)
        events.on_optimizer_made(self._note_construction)
        events.around_zero_grad(events.before(self._note_zeroing))

    @guarded
    def _note_zeroing(self, *_args, **_kwargs) -> None:
        file, line = frames.users_line(sys._getframe())
        if frames.is_users(file):
            self.zeroed_at = (file, line)

    def list_untrained(self) -> list[dict]:
        """The records of parameters that no step trained; empty if no step was made."""
        return list(list_untrained(dict(self.optimizers), set(self._counts)))

    def find_unstepped(self) -> tuple[str, int] | None:
        """The construction of an optimizer of parameters on a GPU, if no step of any trained one."""
        held = ((place, it) for optimizer, place in self.optimizers.items() for group in optimizer.param_groups for it in group["params"])
        return next((place for place, it in held if it.is_cuda), None) if self._most == 0 else None

    def reset(self) -> None:
        """Starts afresh, in a forked child."""
        self._counts.clear()
        self._most = 0

    @guarded
    def _note_construction(self, optimizer: torch.optim.Optimizer) -> None:
        self.optimizers[optimizer] = frames.users_line(sys._getframe(1))
        self.course.begin(sys._getframe(1))

    def _pre_hook(self, optimizer: torch.optim.Optimizer, args, kwargs) -> tuple | None:
        if torch.compiler.is_compiling():
            return None
        if self._stopped:
            _leave()
        self.optimizers.setdefault(optimizer, ("", 0))
        # A closure is the argument after the optimizer, or named.
        if callable(kwargs.get("closure")):
            return args, {**kwargs, "closure": self._around(kwargs["closure"])}
        if len(args) > 1 and callable(args[1]):
            return (args[0], self._around(args[1]), *args[2:]), kwargs
        self._begin()
        return None

    def _post_hook(self, optimizer: torch.optim.Optimizer, _args, _kwargs) -> None:
        if torch.compiler.is_compiling():
            return
        if not _trains(optimizer):
            self.marks.enter_phase("other")
            return
        self._end(optimizer)
        if self._is_enough(sys._getframe(1)):
            self._stopped = True
            self.course.end()
            self._stop()
            # No `except Exception` swallows a SystemExit. Not a subclass: a thread that ends by SystemExit itself must stay silent.
            raise SystemExit(0)

    def _around(self, closure: Callable[[], object]) -> Callable[[], object]:
        """Wraps the closure: the update begins after the closure, not before its forward and backward."""

        @functools.wraps(closure)
        def wrapper():
            self.marks.enter_phase("other")
            try:
                return closure()
            finally:
                self._begin()

        return wrapper

    @guarded
    def _begin(self) -> None:
        self._before()
        self.marks.enter_phase("optimizer")

    @guarded
    def _end(self, optimizer: torch.optim.Optimizer) -> None:
        count = self._counts[optimizer] = self._counts.get(optimizer, 0) + 1
        if count > self._most:
            self._most = count
            self._after()
        self.marks.step_done(self._most)

    def _is_enough(self, frame: FrameType) -> bool:
        return self.course.is_enough(min(self._counts.values(), default=0), frame, list(self.optimizers))


def _trains(optimizer: torch.optim.Optimizer) -> bool:
    """True if a step found a gradient. Schedules are plotted and fast-forwarded by steps that train nothing."""
    return any(parameter.grad is not None for group in optimizer.param_groups for parameter in group["params"])


def _leave() -> None:
    """Ends a program that has swallowed the `SystemExit` and steps again: all is written, nothing is left to wait for."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(0)
