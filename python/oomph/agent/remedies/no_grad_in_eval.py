"""no-grad-in-eval: evaluation without a graph, if the program records an unused graph.

Note [Evaluation]
~~~~~~~~~~~~~~~~~
At the start of a forward nobody knows if a backward will follow, and a forward in evaluation mode may well be training: a frozen backbone,
a perceptual loss, dropout turned off for good. So a module that is called in evaluation mode runs without a graph only if none of its
inputs requires a gradient, and either of these holds:

* it ran in training mode before, with a graph: the program has turned to evaluation;
* no optimizer holds any of its parameters: no backward through it could change a thing.

If a backward runs after a call of the first kind, before the module is in training mode again, then the call was no evaluation: the remedy
is rejected, and does nothing from then on.
"""

import contextlib
import weakref

import torch

from ..hooks import events
from . import Remedy


def install(remedy: Remedy) -> None:
    """`torch.no_grad()` around calls of modules in evaluation mode. See Note [Evaluation]."""
    evaluation = _Evaluation(remedy)
    events.around_module_call(evaluation.call)
    events.on_optimizer_made(evaluation.optimizers.add)
    events.around_backward(events.before(evaluation.check))
    remedy.otherwise = "no module runs in evaluation mode while a graph is recorded"


class _Evaluation:
    def __init__(self, remedy: Remedy) -> None:
        self._remedy = remedy
        self.optimizers: weakref.WeakSet[torch.optim.Optimizer] = weakref.WeakSet()
        # Modules that ran in training mode, with a graph.
        self._trained: weakref.WeakSet[torch.nn.Module] = weakref.WeakSet()
        # Modules of `_trained` that ran in evaluation mode afterwards, without a graph.
        self._turned: weakref.WeakSet[torch.nn.Module] = weakref.WeakSet()
        self._is_off = False
        self._is_inside = False

    def call(self, call, module: torch.nn.Module, *args, **kwargs):
        """A module is called; only a call from outside of any other counts. Not a hook: hooks are not shown keyword arguments."""
        if self._is_inside:
            return call(module, *args, **kwargs)
        self._is_inside = True
        try:
            with self._choose(module, (args, kwargs)):
                return call(module, *args, **kwargs)
        finally:
            self._is_inside = False

    def _choose(self, module: torch.nn.Module, inputs) -> contextlib.AbstractContextManager:
        """The context for a call of an outermost module."""
        if self._is_off or not torch.is_grad_enabled() or not _records(module, inputs):
            return contextlib.nullcontext()
        if any(part.training for part in module.modules()):
            self._trained.update(module.modules())
            return contextlib.nullcontext()
        reason = self._against(module, inputs)
        if reason is not None:
            self._remedy.rejected(reason)
            return contextlib.nullcontext()
        self._remedy.applied(f"torch.no_grad() around {type(module).__name__} in evaluation mode")
        return torch.no_grad()

    def _against(self, module: torch.nn.Module, inputs) -> str | None:
        """Why this may be no evaluation."""
        name = type(module).__name__
        if any(tensor.requires_grad for tensor in _tensors(inputs)):
            return f"{name} runs in evaluation mode, but what it is given requires a gradient"
        if module in self._trained:
            self._turned.add(module)
        elif self._is_optimized(module):
            return f"{name} is trained in evaluation mode: an optimizer holds its parameters, and it never ran in training mode"
        return None

    def _is_optimized(self, module: torch.nn.Module) -> bool:
        parameters = {id(parameter) for parameter in module.parameters()}
        groups = (group for optimizer in self.optimizers for group in optimizer.param_groups)
        return any(id(parameter) in parameters for group in groups for parameter in group["params"])

    def check(self, *_args, **_kwargs) -> None:
        """Checks that no backward runs while a module is still in the evaluation that the remedy assumed."""
        still = [module for module in self._turned if not module.training]
        self._turned.clear()
        if still:
            self._is_off = True
            self._remedy.rejected(f"backward runs while {type(still[0]).__name__} is in evaluation mode: its parameters would get no gradients")


def _records(module: torch.nn.Module, inputs) -> bool:
    """True if a call of the module records a graph."""
    given = (tensor.requires_grad for tensor in _tensors(inputs))
    return any(parameter.requires_grad for parameter in module.parameters()) or any(given)


def _tensors(value):
    """The tensors among the arguments of a call, however deep."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)
