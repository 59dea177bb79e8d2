"""activation-checkpointing: the backward of a block computes the block's activations again; none is stored until then.

Note [Which blocks]
~~~~~~~~~~~~~~~~~~~
`blocks=N` checkpoints the first N. At the end of forward any choice of blocks costs the same; but while a block is recomputed, the
activations of all later blocks are freed, and those of earlier blocks are still there.
"""

import functools
import inspect
import sys
from collections.abc import Callable

import torch
from torch.utils.checkpoint import checkpoint

from . import Remedy
from .actions import call_method, checkpoint_blocks
from .blocks import Block, described, repeated
from .models import before_training

_CHECKPOINT_FILE = inspect.unwrap(checkpoint).__code__.co_filename
# The switches of transformers, diffusers and timm.
_SWITCHES = ("gradient_checkpointing_enable", "enable_gradient_checkpointing", "set_grad_checkpointing")


def install(remedy: Remedy) -> None:
    """Turns on the library's switch if the model has one, else checkpoints repeated blocks. `blocks=N`: only the first N."""
    most = remedy.settings.get("blocks")
    if most is not None and (not isinstance(most, int) or most < 1):
        return remedy.rejected(f"blocks={most}: expected a number from 1")
    before_training(lambda root, is_compiled: _change(remedy, root, most, is_compiled))


def _change(remedy: Remedy, root: torch.nn.Module, most: int | None, is_compiled: bool) -> None:
    if most is None and _turn_on(remedy, root):
        return
    blocks = repeated(root)
    if not blocks:
        name = type(root).__name__
        return remedy.rejected(f"{name} has no repeated blocks: no ModuleList or Sequential has two like modules side by side")
    if _is_on(root):
        return remedy.rejected(f"{type(root).__name__} checkpoints already")
    words = described(blocks)
    if most is not None and most < len(blocks):
        words, blocks = f"the first {most} of {words}", blocks[:most]
    warning = _warning(blocks)
    text = f"checkpoint({words}, use_reentrant=False){warning}"
    action = checkpoint_blocks(list(dict.fromkeys(type(block.module).__name__ for block in blocks)))
    # Inside compiled code nothing can be noted.
    if is_compiled:
        remedy.applied(text, alters=bool(warning), action=action)
    for block in blocks:
        _wrap(block, functools.partial(remedy.applied, text, alters=bool(warning), action=action), remedy.rejected)


def _turn_on(remedy: Remedy, root: torch.nn.Module) -> bool:
    """Calls the library's switch of each outermost module with a switch; returns whether a switch was found."""
    found = _switched(root)
    for module, switch in found:
        name = type(module).__name__
        if _is_on(module):
            remedy.rejected(f"{name} checkpoints already")
        elif not module.training:
            remedy.rejected(f"{name} is in evaluation mode, in which its library does not checkpoint: it lacks a call of train()")
        else:
            getattr(module, switch)()
            remedy.applied(f"{name}.{switch}()", action=call_method(name, switch))
    return bool(found)


def _switched(root: torch.nn.Module) -> list[tuple[torch.nn.Module, str]]:
    """The outermost modules with a working switch, and the switch's name."""
    if getattr(root, "supports_gradient_checkpointing", True) and getattr(root, "_supports_gradient_checkpointing", True):
        for switch in _SWITCHES:
            if hasattr(root, switch):
                return [(root, switch)]
    return [found for child in root.children() for found in _switched(child)]


def _is_on(root: torch.nn.Module) -> bool:
    flags = ("gradient_checkpointing", "grad_checkpointing")
    return any(getattr(module, flag, False) is True for module in root.modules() for flag in flags)


def _warning(blocks: list[Block]) -> str:
    modules = (module for block in blocks for module in block.module.modules())
    batch_norm = any(isinstance(module, torch.nn.modules.batchnorm._BatchNorm) and module.track_running_stats for module in modules)
    return "; BatchNorm updates its running statistics twice a step" if batch_norm else ""


def _wrap(block: Block, applied: Callable, rejected: Callable) -> None:
    """Runs the block's forward in a checkpoint, by a class of its own: a method kept by the module would keep a deleted model
    alive, and a copy of the model would call the original's."""
    kind, own = type(block.module), block.module.__dict__.get("forward")
    is_theirs: list[bool] = []

    def forward(self, *args, **kwargs):
        run = own or functools.partial(kind.forward, self)
        if torch.compiler.is_compiling():
            return checkpoint(run, *args, use_reentrant=False, **kwargs)
        if not is_theirs:
            is_theirs.append(_is_inside_checkpoint())
            if is_theirs[0]:
                rejected(f"{kind.__name__} runs in a checkpoint already")
            else:
                applied()
        return run(*args, **kwargs) if is_theirs[0] else checkpoint(run, *args, use_reentrant=False, **kwargs)

    block.module.__dict__.pop("forward", None)
    block.module.__class__ = type(kind.__name__, (kind,), {"forward": forward, "__module__": kind.__module__})


def _is_inside_checkpoint() -> bool:
    """True if the program itself called this block through `torch.utils.checkpoint`: seen from the stack, not from the source."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename == _CHECKPOINT_FILE:
            return True
        frame = frame.f_back
    return False
