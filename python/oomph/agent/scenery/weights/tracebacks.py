"""Finds the variables of a library's function in the traceback of an error."""

import inspect
from collections.abc import Callable


def find_variables(error: BaseException, function: Callable) -> dict[str, object] | None:
    """The variables of the innermost call of `function` that the error has left; `None` if the error comes from elsewhere."""
    code, found, trace = inspect.unwrap(function).__code__, None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code is code:
            found = dict(trace.tb_frame.f_locals)
        trace = trace.tb_next
    return found
