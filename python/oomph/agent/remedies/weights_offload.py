"""weights-offload: the weights stay on the host, and each module's are on the GPU while it runs, by accelerate's `cpu_offload`."""

import importlib
import sys

import torch

from ..process import frames
from . import Remedy
from .linears import Optimizers
from .models import before_move


def install(remedy: Remedy) -> None:
    """Replaces the move to the GPU. For inference: an optimizer would update weights that are absent."""
    optimizers = Optimizers()
    before_move(lambda root, device: _offload(remedy, root, device, optimizers), order=2)


def _offload(remedy: Remedy, root: torch.nn.Module, device: torch.device, optimizers: Optimizers) -> bool:
    if next(root.parameters(), None) is None:
        return False
    try:
        accelerate = importlib.import_module("accelerate")
    except ModuleNotFoundError as missing:
        remedy.rejected(f"{missing.name} is not installed: pip install accelerate")
        return False
    accelerate.cpu_offload(root, execution_device=device)
    at = frames.users_line(sys._getframe(1))
    remedy.at_end.append(lambda: _say(remedy, f"accelerate.cpu_offload({type(root).__name__})", optimizers, at))
    return True


def _say(remedy: Remedy, words: str, optimizers: Optimizers, at: tuple[str, int]) -> None:
    if optimizers.count:
        remedy.rejected("the program makes an optimizer: weights that are trained cannot stay away", at)
    else:
        remedy.applied(words, at)
