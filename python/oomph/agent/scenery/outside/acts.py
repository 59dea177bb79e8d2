"""Acts on the outside: their suppression, and the counts by library and kind."""

import collections
import functools
import inspect
import os
from collections.abc import Callable, Iterable

from ... import records
from ...failure import guarded
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


def replace(holder: object, name: str, make: Callable[[Callable], Callable]) -> None:
    """Replaces a function of a module, of a class or of an object by `make(function)`; passes over an absent name."""
    original = getattr(holder, name, None)
    if not callable(original):
        return
    stand_in = functools.wraps(original)(make(original))
    # `original` of a class method is bound to the class already.
    is_bound = inspect.isclass(holder) and inspect.ismethod(original)
    setattr(holder, name, staticmethod(stand_in) if is_bound else stand_in)


def suppress(holder: object, names: Iterable[str], library: str, answer: Callable | None = None, action: str | None = None) -> None:
    """Makes functions do nothing and return `answer(*args, **kwargs)`, or `None`."""
    for name in names:
        replace(holder, name, lambda original, kind=action or kind_of(name): suppressing(original, library, kind, answer))


def suppressing(original: Callable, library: str, action: str, answer: Callable | None) -> Callable:
    reply = guarded(answer or (lambda *args, **kwargs: None))

    def stand_in(*args, **kwargs):
        if is_online():
            return original(*args, **kwargs)
        note(library, action)
        return reply(*args, **kwargs)

    async def stand_in_async(*args, **kwargs):
        if is_online():
            return await original(*args, **kwargs)
        note(library, action)
        return reply(*args, **kwargs)

    return stand_in_async if inspect.iscoroutinefunction(original) else stand_in


def force(holder: object, name: str, library: str, is_harmless: Callable[[dict], bool] = lambda _arguments: False, **forced) -> None:
    """Makes a function that starts a tracked run get `forced` in place of the program's arguments, except for harmless arguments by name."""

    def make(original: Callable) -> Callable:
        def stand_in(*args, **kwargs):
            if is_online() or is_harmless(kwargs):
                return original(*args, **kwargs)
            note(library, RUN)
            args, kwargs = with_arguments(original, args, kwargs, forced)
            return original(*args, **kwargs)

        return stand_in

    replace(holder, name, make)


def with_arguments(function: Callable, args: tuple, kwargs: dict, forced: dict) -> tuple[tuple, dict]:
    """The arguments of a call with `forced` ones in place; arguments that `function` does not take are unchanged."""
    try:
        bound = inspect.signature(function).bind_partial(*args, **kwargs)
    except (TypeError, ValueError):
        return args, kwargs
    bound.arguments.update(forced)
    return bound.args, bound.kwargs


os.register_at_fork(after_in_child=reset)
