"""Changing how optimizers are made; shared by the remedies that do."""

import functools
import inspect
from collections.abc import Callable

import torch


def around_construction(change: Callable[[type, dict], dict | None]) -> None:
    """Calls `change(class, keywords)` before each construction of one of PyTorch's optimizers; the result replaces the keywords.

    Only the outermost constructor is changed: `AdamW` is an `Adam`, whose constructor runs inside.
    """
    for optimizer in _classes():
        optimizer.__init__ = _wrapped(optimizer, optimizer.__init__, change)


def in_place_of(choose: Callable[[type, dict], torch.optim.Optimizer | None]) -> None:
    """Calls `choose(class, arguments)` before each construction of one of PyTorch's optimizers; the result replaces the optimizer.

    `arguments` holds the program's arguments by name. Only the class itself is replaced: the program's subclasses stay, and `isinstance`
    answers as before.
    """
    asked: list[type] = []
    for optimizer in _classes():
        optimizer.__new__ = _choosing(optimizer, optimizer.__new__, choose, asked)


def groups_with(params, kept: set[str]) -> list:
    """The parameters or parameter groups of an optimizer, reduced to the options in `kept`."""
    listed = [params] if isinstance(params, torch.Tensor) else list(params)
    return [{key: value for key, value in one.items() if key in kept} if isinstance(one, dict) else one for one in listed]


def _classes() -> list[type]:
    found = [value for value in vars(torch.optim).values() if isinstance(value, type)]
    return [value for value in found if issubclass(value, torch.optim.Optimizer) and "__init__" in vars(value)]


def _wrapped(owner: type, init: Callable, change: Callable[[type, dict], dict | None]) -> Callable:
    @functools.wraps(init)
    def wrapper(self, *args, **kwargs):
        if type(self) is owner:
            kwargs = change(owner, kwargs) or kwargs
        init(self, *args, **kwargs)

    return wrapper


def _choosing(owner: type, new: Callable, choose: Callable, asked: list[type]) -> Callable:
    """Wraps a constructor. `asked` holds the class that is being replaced: optimizers constructed inside `choose` are left alone."""
    signature = inspect.signature(owner.__init__)

    def wrapper(cls, *args, **kwargs):
        # A copy is made without arguments, and filled afterwards.
        if cls is not owner or asked or not (args or kwargs):
            return new(cls)
        asked.append(owner)
        try:
            return choose(owner, _named(signature, args, kwargs)) or new(cls)
        finally:
            asked.clear()

    return wrapper


def _named(signature: inspect.Signature, args: tuple, kwargs: dict) -> dict:
    arguments = signature.bind_partial(None, *args, **kwargs).arguments
    return {name: value for name, value in arguments.items() if name != "self"}
