"""Linear layers of bitsandbytes in place of PyTorch's, before the model is moved to the GPU, which packs their weights.

Shared by `weights-8bit` and `weights-4bit`. Packed weights have no gradient: they serve where nothing is trained, or where
something beside them is, such as the adapters of `lora`.
"""

import importlib
import sys
from collections.abc import Callable

import torch

from .. import frames
from . import Remedy, is_asked
from .linears import Optimizers, inner_linears
from .models import before_move, replace

Make = Callable[[object, torch.nn.Linear], torch.nn.Linear]


def install(remedy: Remedy, bits: int, make: Make) -> None:
    """`make(bitsandbytes.nn, linear)` gives the layer that takes a linear one's place."""
    remedy.otherwise = "no model with Linear layers is moved to the GPU"
    optimizers = Optimizers()
    before_move(lambda root, _device: _change(remedy, root, bits, make, optimizers))


def _change(remedy: Remedy, root: torch.nn.Module, bits: int, make: Make, optimizers: Optimizers) -> None:
    linears = inner_linears(root)
    modules = _library(remedy) if linears else None
    if modules is None:
        return
    # What is trained is what is not packed, and known only in the end unless some of it was frozen.
    has_frozen = any(not linear.weight.requires_grad for linear in linears.values())
    for name, linear in linears.items():
        replace(root, name, make(modules, linear))
    setattr(root, f"is_loaded_in_{bits}bit", True)
    at = frames.users_line(sys._getframe(1))
    have = "has its" if len(linears) == 1 else "have their"
    words = f"{len(linears)} Linear of {type(root).__name__} {have} weights in {bits} bits"
    is_trainable = has_frozen or is_asked("lora")

    def say() -> None:
        if optimizers.count and not is_trainable:
            remedy.rejected(f"{words}, but the program trains them, and they have no gradient: use it with lora", at)
        else:
            remedy.applied(words, at)

    remedy.at_end.append(say)


def _library(remedy: Remedy):
    try:
        return importlib.import_module("bitsandbytes").nn
    except ModuleNotFoundError as missing:
        return remedy.rejected(f"{missing.name} is not installed: pip install bitsandbytes")
