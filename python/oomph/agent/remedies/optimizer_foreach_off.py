"""optimizer-foreach-off: parameters are updated one after the other; the temporaries of a single parameter are alive at a time."""

import inspect

from . import Remedy
from .actions import set_argument
from .optimizers import around_construction


def install(remedy: Remedy) -> None:
    """Sets `foreach=False` for every optimizer with this option, unless the program sets it."""

    def change(optimizer: type, keywords: dict) -> dict | None:
        if "foreach" not in inspect.signature(optimizer.__init__).parameters:
            return remedy.rejected(f"{optimizer.__name__} has no foreach implementation")
        if keywords.get("fused"):
            return remedy.rejected(f"{optimizer.__name__} was made with fused=True, which makes no temporaries")
        if keywords.get("foreach") is not None:
            return remedy.rejected(f"{optimizer.__name__} was made with foreach={keywords['foreach']}")
        remedy.applied(f"{optimizer.__name__}(foreach=False)", action=set_argument(optimizer.__name__, "foreach", "False"))
        return keywords | {"foreach": False}

    around_construction(change)
