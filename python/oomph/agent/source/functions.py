"""The program's own functions that a call, or the end of a `with`, runs."""

import ast
import types

from ..process import frames, objects
from .scope import UNKNOWN, Scope


def function_of(value: object) -> types.FunctionType | None:
    """The function of the user's own code that a call of the value would run; `None` for all else."""
    function = value.__func__ if type(value) is types.MethodType else value
    is_users = type(function) is types.FunctionType and frames.is_users(function.__code__.co_filename)
    return function if is_users else None


def find_exit(manager: ast.expr, scope: Scope) -> types.FunctionType | None:
    """The program's own `__exit__` of a context manager, or of the class that an expression makes an object of."""
    made = scope.evaluate(manager.func) if isinstance(manager, ast.Call) else UNKNOWN
    kind = made if objects.is_a(made, type) else type(scope.evaluate(manager))
    return function_of(objects.find_in_bases(kind, "__exit__"))
