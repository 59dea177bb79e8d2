"""Failures of the agent: printed in one line, while the program goes on."""

import functools
import sys
from collections.abc import Callable

_said: set[str] = set()


def _print(message: str) -> None:
    print(f"oomph agent: {message}", file=sys.stderr, flush=True)


_listener: Callable[[str], object] = _print


def divert(listener: Callable[[str], object]) -> None:
    """Hands later messages to `listener`: in a real run standard error is the program's, and may be any file."""
    global _listener
    _listener = listener


def say(message: str) -> None:
    """One line on standard error, once per message."""
    if message not in _said:
        _said.add(message)
        _listener(message)


def guarded(function: Callable) -> Callable:
    """Wraps `function`: an error is printed instead of raised into the program, and the call returns `None`."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except Exception as error:
            tell(function.__qualname__, error)
            return None

    return wrapper


def tell(what: str, error: Exception) -> None:
    """Says that something of the agent's failed, and where."""
    say(f"{what} failed: {_where(error)}{type(error).__name__}: {error}")


def _where(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}: "


def explain(error: BaseException, sentence: str) -> None:
    """Marks an error of a library with a sentence for the user, for the report on the end of the program."""
    error.oomph_reason = sentence


def find_explained(error: BaseException) -> BaseException | None:
    """The explained error that led to `error`, which a library may have raised in place of the first."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if hasattr(error, "oomph_reason"):
            return error
        seen.add(id(error))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return None
