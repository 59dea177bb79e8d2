"""Changing how optimizers are made; shared by the remedies that do."""

import inspect
from collections.abc import Callable

import torch

from ..hooks import around
from ..hooks.replacing import Layer
from ..hooks.rows.remedies import OPTIMIZERS


def around_construction(change: Callable[[type, dict], dict | None]) -> None:
    """Calls `change(class, keywords)` before each construction of one of PyTorch's optimizers; the result replaces the keywords."""
    for name in OPTIMIZERS:
        around(f"torch.optim:{name}.__init__", _change_keywords(name, change))


def in_place_of(choose: Callable[[type, dict], torch.optim.Optimizer | None]) -> None:
    """Calls `choose(class, arguments)` before each construction of one of PyTorch's optimizers; the result replaces the optimizer.

    `arguments` holds the program's arguments by name. Only the class itself is replaced: the program's subclasses stay, and `isinstance`
    answers as before.
    """
    ours = {getattr(torch.optim, name, None) for name in OPTIMIZERS}
    # The class that is being replaced: optimizers constructed inside `choose` are left alone.
    asked: list[type] = []

    def layer(new, kind, *args, **kwargs):
        # A copy is made without arguments, and filled afterwards.
        if kind not in ours or asked or not (args or kwargs):
            return new(kind)
        asked.append(kind)
        try:
            return choose(kind, _name_arguments(kind, args, kwargs)) or new(kind)
        finally:
            asked.clear()

    around("torch.optim.optimizer:Optimizer.__new__", layer)


def groups_with(params, kept: set[str]) -> list:
    """The parameters or parameter groups of an optimizer, reduced to the options in `kept`."""
    listed = [params] if isinstance(params, torch.Tensor) else list(params)
    return [{key: value for key, value in one.items() if key in kept} if isinstance(one, dict) else one for one in listed]


def _change_keywords(name: str, change: Callable[[type, dict], dict | None]) -> Layer:
    """The outermost constructor alone is changed: `AdamW` is an `Adam`, whose constructor runs inside."""

    def layer(init, optimizer, *args, **kwargs):
        owner = type(optimizer)
        if owner is getattr(torch.optim, name):
            kwargs = change(owner, kwargs) or kwargs
        init(optimizer, *args, **kwargs)

    return layer


def _name_arguments(kind: type, args: tuple, kwargs: dict) -> dict:
    arguments = inspect.signature(kind.__init__).bind_partial(None, *args, **kwargs).arguments
    return {name: value for name, value in arguments.items() if name != "self"}
