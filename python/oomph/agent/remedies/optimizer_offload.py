"""optimizer-offload: the optimizer's state is on the host, and its step too, by torchao's `CPUOffloadOptimizer`.

Over a phantom GPU the update on the host is left out: there is nothing to compute it from, and its state would take real memory.
"""

import importlib
from collections.abc import Callable

import torch

from .. import phantom
from ..hooks import events, innermost
from . import Remedy
from .actions import replace_class
from .optimizers import groups_with, in_place_of

_WITH_STATE = ("Adam", "AdamW", "NAdam", "RAdam", "Adagrad", "Adadelta", "Adamax", "RMSprop")


def install(remedy: Remedy) -> None:
    """For every optimizer of PyTorch's that keeps state for each parameter by itself."""
    made: list[torch.optim.Optimizer] = []

    def choose(optimizer: type, arguments: dict) -> torch.optim.Optimizer | None:
        found = _choose(remedy, optimizer, arguments)
        made.extend([found] if found else [])
        return found

    def refuse(change, *args, **kwargs):
        # The host copies gradients straight after backward; later changes to gradients have no effect.
        if made:
            remedy.rejected(f"{innermost(change).__name__} changes gradients that are on the host already")
        return change(*args, **kwargs)

    in_place_of(choose)
    events.around_clip(refuse)
    events.around_unscale(refuse)


def _choose(remedy: Remedy, optimizer: type, arguments: dict) -> torch.optim.Optimizer | None:
    name = optimizer.__name__
    if name not in _WITH_STATE and not arguments.get("momentum"):
        return remedy.rejected(f"{name} keeps no state" if name != "SGD" else "SGD without momentum keeps no state")
    try:
        theirs = importlib.import_module("torchao.optim").CPUOffloadOptimizer
    except ModuleNotFoundError as missing:
        return remedy.rejected(f"{missing.name} is not installed: pip install torchao")
    keywords = {key: value for key, value in arguments.items() if key != "params"}
    groups = groups_with(arguments["params"], {"params", "lr", "weight_decay", "betas", "eps", "momentum"})
    if optimizer is torch.optim.AdamW:
        # torchao 0.18 sets this for AdamW alone.
        keywords.setdefault("fused", True)
    made = theirs(groups, _idle_on_host(optimizer) if phantom.find() else optimizer, **keywords)
    remedy.applied(f"CPUOffloadOptimizer(optimizer_class={name})", action=replace_class(name, "torchao.optim.CPUOffloadOptimizer"))
    return made


def _idle_on_host(optimizer: type) -> Callable[..., torch.optim.Optimizer]:
    """Makes optimizers that compute nothing for parameters on the host; small parameters stay on the GPU, with their state."""
    idle = type(optimizer.__name__, (optimizer,), {"step": lambda self, closure=None: closure() if closure else None})

    def make(groups: list[dict], **keywords) -> torch.optim.Optimizer:
        is_on_gpu = any(parameter.is_cuda for group in groups for parameter in _listed(group["params"]))
        return (optimizer if is_on_gpu else idle)(groups, **keywords)

    return make


def _listed(params) -> list[torch.Tensor]:
    return [params] if isinstance(params, torch.Tensor) else params
