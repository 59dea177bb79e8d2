"""The handler that will catch a coming out-of-memory error, and the number that the handler makes smaller.

Note [Handlers]
~~~~~~~~~~~~~~~
PyTorch calls the observer before raising, so the program has not caught anything yet. The live frames and their sources tell the future:
from the innermost frame outwards, the innermost `try` around the running line whose handler catches the error, `contextlib.suppress` and
similar, a context manager of the program whose `__exit__` may return True, or a `finally` that returns. A handler that raises again at its
end passes the error on, unless a statement may leave the handler before. The names in a handler are looked up in the frame, so
`except accelerator.errors` is decided as Python would.

A handler that makes a whole number smaller, such as `batch_size //= 2`, searches for a size that fits. So does a loop around the `try` that
lowers a number after the handler set a flag. This reading of the source is no proof: the records at the program's end decide if the error
ended the program after all.
"""

import ast
import contextlib
from dataclasses import dataclass
from types import FrameType

from ..process import frames, objects
from ..source import trees
from ..source.flow import FUNCTIONS, LOOPS, SCOPES, WITHS, find_innermost
from ..source.functions import find_exit
from ..source.names import last_name, name_of_call, spell
from ..source.scope import Scope
from ..source.spans import find_running, is_in
from . import guards

# Context managers that swallow an exception of the given types.
_SWALLOWERS = {"suppress", "raises", "assertRaises", "assertRaisesRegex"}
_SMALLER = (ast.FloorDiv, ast.Div, ast.Sub, ast.RShift)
# `except*` is of Python 3.11.
_TRIES = (ast.Try, getattr(ast, "TryStar", ast.Try))
_LEAVING = (ast.Return, ast.Break, ast.Continue)

# The line that catches an error, and the statements that then run.
_Taken = tuple[int, list[ast.stmt]]


@dataclass(frozen=True)
class Handler:
    """The line that catches the error, the number that the handler makes smaller, and the record of the statement."""

    file: str
    line: int
    lowers: str | None
    guard: dict


def find(frame: FrameType | None, error: type[BaseException]) -> Handler | None:
    """The handler of an error of this type that will be raised in `frame`; `None` if nothing catches the error."""
    for running in frames.list_running(frame):
        if not frames.is_agents(running.f_code.co_filename):
            # A handler with expressions that are nested too deeply is not read.
            with contextlib.suppress(RecursionError):
                handler = _in_frame(running, error)
                if handler is not None:
                    return handler
    return None


def _in_frame(frame: FrameType, error: type[BaseException]) -> Handler | None:
    path, scope = find_running(frame), Scope.of_frame(frame)
    for at, node in reversed(list(enumerate(path))):
        if isinstance(node, FUNCTIONS):
            return None
        taken = _find_taking(node, frame.f_lineno, scope, error)
        if taken is not None:
            (line, handler), around = taken, path[:at]
            # A `finally` does not try again.
            lowers = None if handler is getattr(node, "finalbody", None) else _find_lowered(handler, node, around, scope)
            return Handler(frame.f_code.co_filename, line, lowers, guards.describe(node, node.body, handler, around))
    return None


def _find_taking(node: ast.AST, line: int, scope: Scope, error: type[BaseException]) -> _Taken | None:
    """The line and the handler, if the statement takes an error of the running line."""
    if isinstance(node, _TRIES):
        return _find_handler(node, line, scope, error)
    if isinstance(node, WITHS) and is_in(node.body, line) and any(_suppresses(item.context_expr, scope, error) for item in node.items):
        return node.lineno, []
    return None


def _find_handler(node: ast.Try, line: int, scope: Scope, error: type[BaseException]) -> _Taken | None:
    """The `except` that takes an error of the body, or the `finally` that takes any error by leaving."""
    if is_in(node.body, line):
        taking = next((it for it in node.handlers if _catches(it.type, scope, error)), None)
        if taking is not None and not _passes_on(taking.body):
            return taking.lineno, taking.body
    leaving = next((it for it in node.finalbody if isinstance(it, _LEAVING)), None)
    return (leaving.lineno, node.finalbody) if leaving is not None and not is_in(node.finalbody, line) else None


def _suppresses(manager: ast.expr, scope: Scope, error: type[BaseException]) -> bool:
    if name_of_call(manager) in _SWALLOWERS:
        return any(_catches(argument, scope, error) for argument in manager.args[:2])
    return _swallows(manager, scope)


def _swallows(manager: ast.expr, scope: Scope) -> bool:
    """True if a context manager of the program has an `__exit__` that may return True."""
    leave = find_exit(manager, scope)
    definition = trees.find_definition(leave.__code__, leave.__globals__) if leave is not None else None
    nodes = ast.walk(definition) if definition is not None else ()
    return any(_may_be_true(node.value) for node in nodes if isinstance(node, ast.Return))


def _may_be_true(value: ast.expr | None) -> bool:
    """False for a constant that is no error's end, and for the answer of another context manager."""
    if isinstance(value, ast.Constant):
        return value.value is True
    return value is not None and name_of_call(value) != "__exit__"


def _catches(kind: ast.expr | None, scope: Scope, error: type[BaseException]) -> bool:
    """True if `except kind` catches the error. A name that cannot be looked up counts if its spelling is that of PyTorch's error."""
    if kind is None:
        return True
    if isinstance(kind, (ast.Tuple, ast.List)):
        return any(_catches(part, scope, error) for part in kind.elts)
    found = scope.evaluate(kind)
    # Python compares the classes themselves, too: no `__subclasscheck__` is called.
    if type(found) is tuple:
        return any(part is base for part in found for base in error.__mro__)
    if objects.is_a(found, type):
        return any(found is base for base in error.__mro__)
    return last_name(kind) in {"OutOfMemoryError", "RuntimeError", "Exception", "BaseException"}


def _passes_on(body: list[ast.stmt]) -> bool:
    """True if a handler always raises at its end: no `return` or `continue` comes before."""
    return any(isinstance(statement, ast.Raise) for statement in body) and not any(_leaves(statement, _LEAVING) for statement in body)


def _leaves(node: ast.AST, ways: tuple) -> bool:
    """True if a statement may leave the handler. `break` and `continue` in an inner loop do not."""
    if isinstance(node, ways):
        return True
    if isinstance(node, SCOPES):
        return False
    inner = (ast.Return,) if isinstance(node, LOOPS) else ways
    return any(_leaves(child, inner) for child in ast.iter_child_nodes(node))


def _find_lowered(body: list[ast.stmt], node: ast.AST, around: list[ast.AST], scope: Scope) -> str | None:
    """The whole number that the body of the handler, or the loop around the `try` or `with`, makes smaller."""
    loop = find_innermost(around, LOOPS)
    behind = [statement for statement in loop.body if node not in ast.walk(statement)] if loop is not None else []
    names = (find_smaller(statement) for place in (*body, *behind) for statement in ast.walk(place))
    return next((name for name in names if name is not None and type(scope.read(name)) is int), None)


def find_smaller(node: ast.AST) -> str | None:
    """The target of `x //= 2`, `x = x // 2`, `a.x = x = max(1, x // 2)`, `x = x - 1` or `x = (low + high) // 2`; `x = y - 1` is another number."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, _SMALLER):
        return spell(node.target)
    if isinstance(node, ast.Assign):
        targets = [name for name in map(spell, node.targets) if name]
        read = {spell(part) for part in ast.walk(node.value)}
        own = [name for name in targets if name in read]
        made = [part.op for part in ast.walk(node.value) if isinstance(part, ast.BinOp) and isinstance(part.op, _SMALLER)]
        divides = any(not isinstance(operator, ast.Sub) for operator in made)
        return next(iter(own or targets), None) if divides else next(iter(own), None) if made else None
    return None
