"""optimizer-adafactor: second moments kept as one row and one column of each matrix, and no first ones."""

import torch

from . import Remedy
from .actions import replace_class
from .optimizers import groups_with, in_place_of

# Options of Adafactor with the same name and meaning.
_KEPT = ("lr", "weight_decay", "maximize")


def install(remedy: Remedy) -> None:
    """Replaces every optimizer with a state as large as its parameters by `torch.optim.Adafactor`."""

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
