"""lora: the model is frozen, and low-rank adapters of its linear layers are trained, by PEFT.

PEFT puts the adapters into the model itself and returns a wrapper around it. The program goes on with its own model.
"""

import importlib
import sys

import torch

from ..process import frames
from . import Remedy
from .linears import Optimizers, inner_linears
from .models import before_move

_RANK = 8


def install(remedy: Remedy) -> None:
    """Installs the remedy, before the model is moved to the GPU and its optimizer is made. `rank=N`: the rank of the adapters."""
    rank = remedy.settings.get("rank", _RANK)
    if not isinstance(rank, int) or rank < 1:
        return remedy.rejected(f"rank={rank}: expected a number from 1")
    optimizers = Optimizers()
    # After the remedies that pack weights: adapters lie beside the packed layer.
    before_move(lambda root, _device: _adapt(remedy, root, rank, optimizers), order=1)


def _adapt(remedy: Remedy, root: torch.nn.Module, rank: int, optimizers: Optimizers) -> None:
    targets = _targets(root)
    if not targets:
        return
    if any("lora_" in name for name, _ in root.named_parameters()):
        return remedy.rejected(f"{type(root).__name__} has adapters already")
    if optimizers.have(root):
        name = type(root).__name__
        return remedy.rejected(f"the optimizer of {name} is made before the model is moved to the GPU: it would not get the adapters")
    try:
        peft = importlib.import_module("peft")
    except ModuleNotFoundError as missing:
        return remedy.rejected(f"{missing.name} is not installed: pip install peft")
    peft.get_peft_model(root, peft.LoraConfig(r=rank, lora_alpha=2 * rank, target_modules=targets))
    trained = sum(parameter.numel() for parameter in root.parameters() if parameter.requires_grad)
    words = f"LoraConfig(r={rank}) on {len(targets)} linear layers of {type(root).__name__}: {trained:,} parameters are trained"
    at = frames.users_line(sys._getframe(1))
    remedy.at_end.append(lambda: _say(remedy, optimizers, words, at))


def _say(remedy: Remedy, optimizers: Optimizers, words: str, at: tuple[str, int]) -> None:
    if optimizers.count:
        remedy.applied(words, at)
    else:
        remedy.rejected("the program makes no optimizer: nothing is trained", at)


def _targets(root: torch.nn.Module) -> list[str]:
    """The names of linear layers, including packed layers and the transposed layers of transformers."""
    linears = inner_linears(root)
    others = ("Conv1D", "Linear4bit", "Linear8bitLt")
    return [name for name, module in root.named_modules() if name in linears or type(module).__name__ in others]
