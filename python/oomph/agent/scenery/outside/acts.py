"""Acts on the outside: their suppression, and the counts by library and kind."""

import collections
import inspect
import os
from collections.abc import Callable

from ... import records
from ...failure import guarded
from ...hooks import innermost
from ...hooks.replacing import Layer
from .online import is_online

# The kinds of acts in the records.
RUN, MESSAGE, UPLOAD, REMOVAL, CHANGE = "run", "message", "upload", "removal", "change"

_counts: collections.Counter[tuple[str, str]] = collections.Counter()


def note(library: str, action: str) -> None:
    """Counts a suppressed act."""
    _counts[library, action] += 1


def reset() -> None:
    """Forgets all acts: the parent of a forked child records them."""
    _counts.clear()


def list_records() -> list[dict]:
    """The record of each library and kind, in order of the first act."""
    return [records.outside(library=library, action=action, count=count) for (library, action), count in _counts.items()]


def kind_of(name: str) -> str:
    """The kind of the act of a function, by the first word of the function's name."""
    word = name.lower()
    if word.startswith(("delete", "remove", "permanently_delete")):
        return REMOVAL
    if word.startswith(("upload", "put", "append", "stage", "complete")) or word == "create_commit":
        return UPLOAD
    return MESSAGE if word.startswith(("send", "publish", "post", "notify")) else CHANGE


def suppress(library: str, answer: Callable | None = None, action: str | None = None) -> Layer:
    """A layer that counts, and returns `answer(*args, **kwargs)`, or `None`, in place of a call. The name of the function tells the kind of act."""
    reply = guarded(answer or (lambda *args, **kwargs: None))

    def layer(call, *args, **kwargs):
        if is_online():
            return call(*args, **kwargs)
        note(library, action or kind_of(innermost(call).__name__))
        return reply(*args, **kwargs)

    return layer


def unless_online(layer: Layer) -> Layer:
    """A layer for runs that may not act on the outside."""
    return lambda call, *args, **kwargs: call(*args, **kwargs) if is_online() else layer(call, *args, **kwargs)


def force(library: str, is_harmless: Callable[[dict], bool] = lambda _arguments: False, **forced) -> Layer:
    """A layer of a function that starts a tracked run: the function gets `forced` in place of the program's arguments, except for harmless
    arguments by name."""

    def layer(call, *args, **kwargs):
        if is_online() or is_harmless(kwargs):
            return call(*args, **kwargs)
        note(library, RUN)
        args, kwargs = with_arguments(innermost(call), args, kwargs, forced)
        return call(*args, **kwargs)

    return layer


def with_arguments(function: Callable, args: tuple, kwargs: dict, forced: dict) -> tuple[tuple, dict]:
    """The arguments of a call with `forced` ones in place; arguments that `function` does not take are unchanged."""
    try:
        bound = inspect.signature(function).bind_partial(*args, **kwargs)
    except (TypeError, ValueError):
        return args, kwargs
    bound.arguments.update(forced)
    return bound.args, bound.kwargs


os.register_at_fork(after_in_child=reset)
