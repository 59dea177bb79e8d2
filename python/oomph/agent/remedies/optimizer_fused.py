"""optimizer-fused: a single kernel updates in place, without the temporaries of the foreach implementation."""

import inspect

import torch

from . import Remedy
from .actions import set_argument
from .optimizers import around_construction


def install(remedy: Remedy) -> None:
    """Sets `fused=True` for every optimizer with this option, unless the program sets it."""

    def change(optimizer: type, keywords: dict) -> dict | None:
        if "fused" not in inspect.signature(optimizer.__init__).parameters:
            return remedy.rejected(f"{optimizer.__name__} has no fused implementation")
        if optimizer is torch.optim.Adagrad:
            return remedy.rejected("Adagrad's fused implementation is for the CPU alone")
        if keywords.get("fused") is not None:
            return remedy.rejected(f"{optimizer.__name__} was made with fused={keywords['fused']}")
        if keywords.get("differentiable"):
            return remedy.rejected("a differentiable optimizer cannot be fused")
        remedy.applied(f"{optimizer.__name__}(fused=True)", action=set_argument(optimizer.__name__, "fused", "True"))
        return {key: value for key, value in keywords.items() if key != "foreach"} | {"fused": True}

    around_construction(change)
