"""What the remedies of sizes are made of: each differs only in what it looks for, and where."""

import importlib
from collections.abc import Callable

from .. import Remedy
from . import Scaling

# These do not import torch.
_BEFORE_TORCH = ("constants", "options")


def functions(what: str, setting: str, rank: Callable[[str], int | None], *parts: str) -> tuple[Callable, Callable]:
    """`prepare` and `install` of a remedy that looks for `what`, by names that `rank` knows, with these modules of the package besides."""
    scalings: dict[Remedy, Scaling] = {}

    def prepare(remedy: Remedy) -> None:
        scaling = scalings[remedy] = Scaling(remedy, what, setting, rank)
        _install(_BEFORE_TORCH, scaling)

    def install(remedy: Remedy) -> None:
        # One that could not be prepared has said so.
        if remedy in scalings:
            _install((*parts, "inputs"), scalings[remedy])

    return prepare, install


def _install(parts: tuple[str, ...], scaling: Scaling) -> None:
    for part in parts:
        importlib.import_module(f".{part}", __package__).install(scaling)
