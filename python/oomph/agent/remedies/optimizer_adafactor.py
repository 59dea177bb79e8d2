"""optimizer-adafactor: second moments kept as one row and one column of each matrix, and no first ones."""

import torch

from . import Remedy
from .actions import replace_class
from .optimizers import groups_with, in_place_of

# What Adafactor has too, under the same name and with the same meaning.
_KEPT = ("lr", "weight_decay", "maximize")


def install(remedy: Remedy) -> None:
    """`torch.optim.Adafactor` in place of every optimizer that keeps a state as large as its parameters."""

    def choose(optimizer: type, arguments: dict) -> torch.optim.Optimizer | None:
        name = optimizer.__name__
        if optimizer is torch.optim.Adafactor:
            return remedy.rejected("the optimizer is Adafactor already")
        if optimizer is torch.optim.SGD and not arguments.get("momentum"):
            return remedy.rejected("SGD without momentum keeps no state")
        kept = {key: value for key, value in arguments.items() if key in _KEPT}
        remedy.applied(f"Adafactor in place of {name}", action=replace_class(name, "torch.optim.Adafactor"))
        return torch.optim.Adafactor(groups_with(arguments["params"], {"params", *_KEPT}), **kept)

    if not hasattr(torch.optim, "Adafactor"):
        return remedy.rejected(f"PyTorch {torch.__version__} has no Adafactor; 2.5 and later have it", at=("", 0))
    in_place_of(choose)
