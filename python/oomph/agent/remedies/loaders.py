"""Changing how data loaders are made; shared by the remedies that do."""

import inspect

from ..hooks import events, innermost
from . import Remedy
from .actions import set_argument

# Arguments that a DataLoader without workers refuses.
_OF_WORKERS = ("prefetch_factor", "persistent_workers", "multiprocessing_context", "timeout")


def with_keyword(remedy: Remedy, keyword: str, value, reason: str) -> None:
    """Sets `keyword=value` for every DataLoader; `reason` explains the unchanged GPU memory."""
    remedy.otherwise = "the program makes no DataLoader"

    def layer(init, *args, **kwargs):
        signature = inspect.signature(innermost(init))
        given = signature.bind(*args, **kwargs)
        now = given.arguments.get(keyword, signature.parameters[keyword].default)
        if now == value:
            remedy.rejected(f"DataLoader has {keyword}={value} already")
        else:
            remedy.applied(f"DataLoader({keyword}={value}): {reason}", action=set_argument("DataLoader", keyword, repr(value)))
            given.arguments[keyword] = value
        if given.arguments.get("num_workers", 0) == 0:
            given.arguments = {name: value for name, value in given.arguments.items() if name not in _OF_WORKERS}
        init(*given.args, **given.kwargs)

    events.around_loader_made(layer)
