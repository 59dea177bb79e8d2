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


def find_called(node: ast.Call, scope: Scope) -> tuple[types.FunctionType, tuple] | None:
    """The program's own function behind a call, with the object of a method; `None` for foreign functions."""
    found = scope.evaluate(node.func)
    bound: tuple = ()
    if type(found) is types.MethodType:
        found, bound = found.__func__, (found.__self__,)
    if type(found) is not types.FunctionType:
        return None
    found = function_of(vars(found).get("__wrapped__", found))
    return None if found is None else (found, bound)


def find_exit(manager: ast.expr, scope: Scope) -> types.FunctionType | None:
    """The program's own `__exit__` of a context manager, or of the class that an expression makes an object of."""
    made = scope.evaluate(manager.func) if isinstance(manager, ast.Call) else UNKNOWN
    kind = made if objects.is_a(made, type) else type(scope.evaluate(manager))
    return function_of(objects.find_in_bases(kind, "__exit__"))
