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
import builtins
import contextlib
from dataclasses import dataclass
from types import FrameType, FunctionType

from ..process import frames, local_variables, objects, syntax
from . import guards

# Context managers that swallow an exception of the given types.
_SWALLOWERS = {"suppress", "raises", "assertRaises", "assertRaisesRegex"}
_SMALLER = (ast.FloorDiv, ast.Div, ast.Sub, ast.RShift)
# `except*` is of Python 3.11.
_TRIES = (ast.Try, getattr(ast, "TryStar", ast.Try))
_LEAVING = (ast.Return, ast.Break, ast.Continue)
_LOOPS = (ast.While, ast.For, ast.AsyncFor)


# The line that catches, the lowered number, and the record of the statement.
_Taken = tuple[int, "str | None", dict]


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
    tree = _tree(frame)
    if tree is None:
        return None
    file, line = frame.f_code.co_filename, frame.f_lineno
    path = syntax.find_path(tree, line)
    for at, node in reversed(list(enumerate(path))):
        if isinstance(node, _TRIES):
            taken = _taken_by_try(node, path[:at], line, frame, error)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            taken = _taken_by_with(node, path[:at], line, frame, error)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return None
        else:
            taken = None
        if taken is not None:
            return Handler(file, *taken)
    return None


def _tree(frame: FrameType) -> ast.Module | None:
    """The parsed source of a frame's file."""
    return syntax.parse(frame.f_code.co_filename, frame.f_globals)


def _taken_by_try(node, around: list[ast.AST], line: int, frame: FrameType, error: type[BaseException]) -> _Taken | None:
    """The line, the lowered number and the record, if the statement takes an error of its body or of its handlers."""
    if syntax.is_in(node.body, line):
        for handler in node.handlers:
            if _catches(handler.type, frame, error):
                if _passes_on(handler.body):
                    break
                return handler.lineno, _lowered(handler.body, node, around, frame), guards.describe(node, node.body, handler.body, around)
    if not syntax.is_in(node.finalbody, line):
        leaving = next((statement for statement in node.finalbody if isinstance(statement, _LEAVING)), None)
        if leaving is not None:
            return leaving.lineno, None, guards.describe(node, node.body, node.finalbody, around)
    return None


def _taken_by_with(node, around: list[ast.AST], line: int, frame: FrameType, error: type[BaseException]) -> _Taken | None:
    if not syntax.is_in(node.body, line):
        return None
    for item in node.items:
        call = item.context_expr
        if isinstance(call, ast.Call) and _last_name(call.func) in _SWALLOWERS:
            if any(_catches(argument, frame, error) for argument in call.args[:2]):
                return node.lineno, _lowered([], node, around, frame), guards.describe(node, node.body, [], around)
        elif _swallows(call.func if isinstance(call, ast.Call) else call, frame):
            return node.lineno, _lowered([], node, around, frame), guards.describe(node, node.body, [], around)
    return None


def _swallows(manager: ast.expr, frame: FrameType) -> bool:
    """True if a context manager of the program has an `__exit__` that may return True."""
    found = _look_up(manager, frame)
    kind = found if objects.is_a(found, type) else type(found)
    leave = next((it for base in objects.list_bases(kind) if (it := objects.list_attributes(base).get("__exit__"))), None)
    if type(leave) is not FunctionType or not frames.is_users(leave.__code__.co_filename):
        return False
    code = leave.__code__
    tree = syntax.parse(code.co_filename, leave.__globals__)
    path = syntax.find_path(tree, code.co_firstlineno) if tree is not None else []
    returns = (node for node in ast.walk(path[-1]) if isinstance(node, ast.Return)) if path else ()
    return any(_may_be_true(node.value) for node in returns)


def _may_be_true(value: ast.expr | None) -> bool:
    """False for a constant that is no error's end, and for the answer of another context manager."""
    if isinstance(value, ast.Constant):
        return value.value is True
    is_passed_on = isinstance(value, ast.Call) and _last_name(value.func) == "__exit__"
    return value is not None and not is_passed_on


def _catches(kind: ast.expr | None, frame: FrameType, error: type[BaseException]) -> bool:
    """True if `except kind` catches the error. A name that cannot be looked up counts if its spelling is that of PyTorch's error."""
    if kind is None:
        return True
    if isinstance(kind, (ast.Tuple, ast.List)):
        return any(_catches(part, frame, error) for part in kind.elts)
    found = _look_up(kind, frame)
    # Python compares the classes themselves, too: no `__subclasscheck__` is called.
    if type(found) is tuple:
        return any(part is base for part in found for base in error.__mro__)
    if objects.is_a(found, type):
        return any(found is base for base in error.__mro__)
    return _last_name(kind) in {"OutOfMemoryError", "RuntimeError", "Exception", "BaseException"}


def _look_up(expression: ast.expr, frame: FrameType) -> object:
    """The value of a name or a dotted attribute, without running any code of the program; `None` if there is no value."""
    if isinstance(expression, ast.Name):
        for scope in (local_variables.read_all(frame, [expression.id]), frame.f_globals, vars(builtins)):
            if dict.__contains__(scope, expression.id):
                return dict.__getitem__(scope, expression.id)
    elif isinstance(expression, ast.Attribute):
        owner = _look_up(expression.value, frame)
        return objects.list_own(owner).get(expression.attr)
    return None


def _last_name(expression: ast.expr) -> str:
    return getattr(expression, "attr", None) or getattr(expression, "id", "")


def _passes_on(body: list[ast.stmt]) -> bool:
    """True if a handler always raises at its end: no `return` or `continue` comes before."""
    return any(isinstance(statement, ast.Raise) for statement in body) and not any(_leaves(statement, _LEAVING) for statement in body)


def _leaves(node: ast.AST, ways: tuple) -> bool:
    """True if a statement may leave the handler. `break` and `continue` in an inner loop do not."""
    if isinstance(node, ways):
        return True
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
        return False
    inner = (ast.Return,) if isinstance(node, _LOOPS) else ways
    return any(_leaves(child, inner) for child in ast.iter_child_nodes(node))


def _lowered(body: list[ast.stmt], node, around: list[ast.AST], frame: FrameType) -> str | None:
    """The whole number that the body of the handler, or the loop around the `try` or `with`, makes smaller."""
    places: list[ast.AST] = list(body)
    loop = next((other for other in reversed(around) if isinstance(other, _LOOPS)), None)
    if loop is not None:
        places += [statement for statement in loop.body if node not in ast.walk(statement)]
    for place in places:
        for statement in ast.walk(place):
            name = find_smaller(statement)
            if name is not None and _is_number(name, frame):
                return name
    return None


def find_smaller(node: ast.AST) -> str | None:
    """The target of `x //= 2`, `x = x // 2`, `a.x = x = max(1, x // 2)`, `x = x - 1` or `x = (low + high) // 2`; `x = y - 1` is another number."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, _SMALLER):
        return _dotted(node.target)
    if isinstance(node, ast.Assign):
        targets = [name for name in map(_dotted, node.targets) if name]
        read = {_dotted(part) for part in ast.walk(node.value)}
        own = [name for name in targets if name in read]
        made = [part.op for part in ast.walk(node.value) if isinstance(part, ast.BinOp) and isinstance(part.op, _SMALLER)]
        divides = any(not isinstance(operator, ast.Sub) for operator in made)
        return next(iter(own or targets), None) if divides else next(iter(own), None) if made else None
    return None


def _dotted(target: ast.AST) -> str | None:
    """`a.b.c` as text; `None` for other targets."""
    if isinstance(target, ast.Name):
        return target.id
    if isinstance(target, ast.Attribute):
        owner = _dotted(target.value)
        return f"{owner}.{target.attr}" if owner else None
    return None


def _is_number(name: str, frame: FrameType) -> bool:
    value = _look_up(ast.parse(name, mode="eval").body, frame)
    return type(value) is int
