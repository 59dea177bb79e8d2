"""The program's own functions that a call, an operator, a condition or the end of a `with` runs."""

import ast
import types
from collections.abc import Iterator

from ..process import frames, objects
from .scope import UNKNOWN, Scope

_OPERATORS = {
    ast.Add: "__add__",
    ast.Sub: "__sub__",
    ast.Mult: "__mul__",
    ast.MatMult: "__matmul__",
    ast.Div: "__truediv__",
    ast.FloorDiv: "__floordiv__",
    ast.Mod: "__mod__",
    ast.Pow: "__pow__",
    ast.LShift: "__lshift__",
    ast.RShift: "__rshift__",
    ast.BitOr: "__or__",
    ast.BitAnd: "__and__",
}
# What decides whether an object is true.
_TRUTHS = ("__bool__", "__len__")


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


def list_methods(node: ast.AST) -> Iterator[tuple[ast.expr, str, list[ast.expr]]]:
    """The operands of a node, with the methods that Python calls, and their arguments."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        yield node.value, "__getitem__", [node.slice]
        yield node.value, "__missing__", [node.slice]
    elif isinstance(node, ast.Subscript):
        yield node.value, "__setitem__", [node.slice]
    elif isinstance(node, ast.BinOp):
        yield node.left, _OPERATORS.get(type(node.op), "__add__"), [node.right]
        yield node.right, _OPERATORS.get(type(node.op), "__add__").replace("__", "__r", 1), [node.left]
    elif isinstance(node, ast.AugAssign):
        yield node.target, _OPERATORS.get(type(node.op), "__add__").replace("__", "__i", 1), [node.value]
    elif isinstance(node, ast.FormattedValue):
        yield node.value, "__format__", []
        yield node.value, "__str__", []
    elif isinstance(node, ast.withitem):
        yield node.context_expr, "__enter__", []
    elif isinstance(node, (ast.For, ast.comprehension)):
        yield node.iter, "__iter__", []
    elif isinstance(node, ast.Compare):
        yield node.left, "__eq__", node.comparators[:1]
    elif isinstance(node, (ast.If, ast.IfExp, ast.While, ast.Assert)):
        yield from ((node.test, name, []) for name in _TRUTHS)
    elif isinstance(node, ast.BoolOp):
        yield from ((value, name, []) for value in node.values for name in _TRUTHS)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from ((node.operand, name, []) for name in _TRUTHS)
