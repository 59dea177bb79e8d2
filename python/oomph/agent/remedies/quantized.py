"""Replaces PyTorch's linear layers by bitsandbytes', before the model is moved to the GPU; the move packs their weights.

Shared by `weights-8bit` and `weights-4bit`. Packed weights have no gradient: they serve programs that train nothing, or only other modules,
such as the adapters of `lora`.
"""

import importlib
import sys
from collections.abc import Callable

import torch

from ..process import frames
from . import Remedy, is_asked
from .linears import Optimizers, inner_linears
from .models import before_move, replace

Make = Callable[[object, torch.nn.Linear], torch.nn.Linear]


def install(remedy: Remedy, bits: int, make: Make) -> None:
    """Installs the remedy; `make(bitsandbytes.nn, linear)` returns the replacement of a linear layer."""
    remedy.otherwise = "no model with Linear layers is moved to the GPU"
    optimizers = Optimizers()
    before_move(lambda root, _device: _change(remedy, root, bits, make, optimizers))


def _change(remedy: Remedy, root: torch.nn.Module, bits: int, make: Make, optimizers: Optimizers) -> None:
    linears = inner_linears(root)
    modules = _library(remedy) if linears else None
    if modules is None:
        return
    # Trained layers are not packed. They are known only at the end, unless some layers were frozen.
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
