"""The optimizers of bitsandbytes in place of PyTorch's; shared by `optimizer-8bit` and `optimizer-paged`."""

import functools
import importlib.util

import torch

from ..hooks import events
from . import Remedy
from .actions import replace_class, set_argument
from .optimizers import groups_with, in_place_of

# The arguments that bitsandbytes' optimizer of the same name accepts.
_KEPT = {
    "Adam": ("lr", "betas", "eps", "weight_decay", "amsgrad"),
    "AdamW": ("lr", "betas", "eps", "weight_decay", "amsgrad"),
    "SGD": ("lr", "momentum", "dampening", "weight_decay", "nesterov"),
    "RMSprop": ("lr", "alpha", "eps", "weight_decay", "momentum", "centered"),
    "Adagrad": ("lr", "lr_decay", "weight_decay", "initial_accumulator_value", "eps"),
}
# Arguments that change the update and are unknown to bitsandbytes.
_UNKNOWN = ("maximize", "differentiable", "decoupled_weight_decay")
# The names in transformers' Trainer, and its defaults.
_TRANSFORMERS = {("", "8bit"): "adamw_bnb_8bit", ("Paged", ""): "paged_adamw_32bit", ("Paged", "8bit"): "paged_adamw_8bit"}
_DEFAULTS = ("adamw_torch", "adamw_torch_fused")


def use(remedy: Remedy, prefix: str, suffix: str) -> None:
    """The class `{prefix}{NAME}{suffix}` of `bitsandbytes.optim` in place of `torch.optim.NAME`."""

    def choose(optimizer: type, arguments: dict) -> torch.optim.Optimizer | None:
        name = f"{prefix}{optimizer.__name__}{suffix}"
        reason = _against(optimizer, arguments)
        theirs = None if reason else _find(remedy, name)
        if theirs is None:
            return remedy.rejected(reason) if reason else None
        return _make(remedy, theirs, optimizer, arguments)

    in_place_of(choose)
    events.before_training_arguments(functools.partial(_tell_transformers, remedy, _TRANSFORMERS[prefix, suffix]))


def _tell_transformers(remedy: Remedy, name: str, arguments) -> None:
    """Selects the optimizer by name: transformers' Trainer has these optimizers, and leaves embeddings in 32 bits."""
    if str(getattr(arguments.optim, "value", arguments.optim)) not in _DEFAULTS:
        return remedy.rejected(f"TrainingArguments asks for optim={arguments.optim}")
    if importlib.util.find_spec("bitsandbytes") is None:
        return remedy.rejected("bitsandbytes is not installed: pip install bitsandbytes")
    arguments.optim = name
    remedy.applied(f'TrainingArguments(optim="{name}")', action=set_argument("TrainingArguments", "optim", f'"{name}"'))


def _against(optimizer: type, arguments: dict) -> str | None:
    """Why there is nothing for bitsandbytes to do."""
    name = optimizer.__name__
    unknown = next((key for key in _UNKNOWN if arguments.get(key)), None)
    if name not in _KEPT:
        return f"bitsandbytes has no {name}"
    if name == "SGD" and not arguments.get("momentum"):
        return "SGD without momentum keeps no state"
    return f"{name} was made with {unknown}={arguments[unknown]}, which bitsandbytes does not have" if unknown else None


def _find(remedy: Remedy, name: str) -> type | None:
    try:
        optim = importlib.import_module("bitsandbytes.optim")
    except ModuleNotFoundError as missing:
        return remedy.rejected(f"{missing.name} is not installed: pip install bitsandbytes")
    if not hasattr(optim, name):
        return remedy.rejected(f"bitsandbytes has no {name}")
    return getattr(optim, name)


def _make(remedy: Remedy, theirs: type, optimizer: type, arguments: dict) -> torch.optim.Optimizer | None:
    kept = _KEPT[optimizer.__name__]
    keywords = {key: _plain(value) for key, value in arguments.items() if key in kept}
    try:
        made = theirs(groups_with(arguments["params"], {"params", *kept}), **keywords)
    except (NotImplementedError, TypeError, ValueError) as error:
        return remedy.rejected(f"bitsandbytes.optim.{theirs.__name__} refused: {error}")
    new = f"bitsandbytes.optim.{theirs.__name__}"
    remedy.applied(f"{new} in place of {optimizer.__name__}", action=replace_class(optimizer.__name__, new))
    return made


def _plain(value):
    """A number, where the program gave a tensor of one."""
    return value.item() if isinstance(value, torch.Tensor) else value
