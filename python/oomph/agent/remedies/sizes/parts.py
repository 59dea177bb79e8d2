"""The parts shared by the remedies of sizes: each remedy has its own names and its own modules."""

import importlib
from collections.abc import Callable

from .. import Remedy
from . import Scaling

# Parts that do not import torch.
_BEFORE_TORCH = ("constants", "options")


def functions(what: str, setting: str, rank: Callable[[str], int | None], *parts: str) -> tuple[Callable, Callable]:
    """Makes `prepare` and `install` of a remedy for the size `what`, with names ranked by `rank` and the modules `parts`."""
    scalings: dict[Remedy, Scaling] = {}

    def prepare(remedy: Remedy) -> None:
        scaling = scalings[remedy] = Scaling(remedy, what, setting, rank)
        _install(_BEFORE_TORCH, scaling)

    def install(remedy: Remedy) -> None:
        # A remedy whose `prepare` failed has recorded the reason.
        if remedy in scalings:
            _install((*parts, "inputs"), scalings[remedy])

    return prepare, install


def _install(parts: tuple[str, ...], scaling: Scaling) -> None:
    for part in parts:
        importlib.import_module(f".{part}", __package__).install(scaling)
