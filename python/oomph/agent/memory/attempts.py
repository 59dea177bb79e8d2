"""The whole number that a program makes smaller after an out-of-memory error, and its values.

Note [Attempts]
~~~~~~~~~~~~~~~
A program halves its batch by an assignment, by the result of a function, by the next element of a list, by the argument of a recursive call, or
by an attribute of an object. Values show the decrease where sources do not: at an error the whole numbers of the running functions are noted.
The functions are read again after the next forward without an error, and after the next optimizer step. A smaller number is the size, if

- the handler assigns the number, or a method that the handler calls;
- the loop around the `try` takes the number from a list, or makes the number smaller after the handler;
- the number is a parameter of a function that was called again;
- the name has a word for sizes.

The first condition that holds decides between several numbers. Counters of loops begin anew, and are no sizes.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType, FrameType, FunctionType

from .. import records
from ..failure import guarded
from ..process import frames, objects
from ..source import trees
from ..source.flow import FUNCTIONS, LOOPS, find_innermost
from ..source.names import name_of_call, spell
from ..source.scope import Scope
from ..source.spans import find_running
from . import handlers

# The bounds of a search.
_MOST_ERRORS, _MOST_FRAMES, _MOST_NAMES, _NODES = 32, 40, 200, 20_000
_HANDLER, _LOOP, _PARAMETER, _WORD = range(4)
_SIZES = re.compile(r"batch|size|chunk|micro|tile|window|beam|width|length|crop|(^|[._])(bs|bsz|n|k)$", re.IGNORECASE)
_COUNTERS = {"range", "enumerate", "count", "tqdm", "trange", "zip"}

# The code of a function, and the text of an expression in it.
_Key = tuple[CodeType, str]


@dataclass
class _Search:
    """The numbers that were noted at the errors of one handler."""

    ranks: dict[_Key, int] = field(default_factory=dict)
    tried: dict[_Key, list[int]] = field(default_factory=dict)
    now: dict[_Key, int] = field(default_factory=dict)
    errors: int = 0


class Attempts:
    """The searches for a size, by the lines of the handlers. See Note [Attempts]."""

    def __init__(self) -> None:
        self._searches: dict[tuple[str, int], _Search] = {}
        # The search whose last error has no step after it yet.
        self._pending: _Search | None = None

    @guarded
    def note_error(self, frame: FrameType | None, handler: handlers.Handler | None) -> None:
        """Notes the numbers of the functions that run, as far as the handler."""
        if handler is None:
            self._pending = None
            return
        search = self._pending = self._searches.setdefault((handler.file, handler.line), _Search())
        search.errors += 1
        search.now.clear()
        if search.errors > _MOST_ERRORS:
            return
        for running in _list_relevant(frame, handler):
            ranks = _list_names(running, handler)
            for name, value in _read_numbers(running, list(ranks)):
                key = (running.f_code, name)
                search.ranks[key] = ranks[name]
                if len(search.tried.setdefault(key, [])) < search.errors:
                    search.tried[key].append(value)

    @guarded
    def note_progress(self, is_step: bool) -> None:
        """Reads the numbers again, after a forward or a step."""
        search = self._pending
        if search is None:
            return
        for running in frames.list_running(sys._getframe(1)):
            names = [name for code, name in search.tried if code is running.f_code]
            for name, value in _read_numbers(running, names) if names else ():
                search.now.setdefault((running.f_code, name), value)
        if is_step:
            self._pending = None

    def list_records(self) -> Iterator[dict]:
        """The record of each search whose number became smaller."""
        for (file, line), search in self._searches.items():
            found = [key for key, now in search.now.items() if _is_smaller(search.tried[key], now)]
            best = min(found, key=lambda key: (search.ranks[key], not _SIZES.search(key[1])), default=None)
            if best is not None:
                is_set = search.ranks[best] == _HANDLER
                yield records.attempt(file=file, line=line, name=best[1], tried=search.tried[best], now=search.now[best], is_set=is_set)


def _is_smaller(tried: list[int], now: int) -> bool:
    return 1 <= now < tried[-1] and all(later <= earlier for earlier, later in zip(tried, tried[1:], strict=False))


def _list_relevant(frame: FrameType | None, handler: handlers.Handler) -> Iterator[FrameType]:
    """The running functions of the program, and the function of the handler."""
    for number, running in enumerate(frames.list_running(frame)):
        if number >= _MOST_FRAMES:
            return
        file = running.f_code.co_filename
        if not frames.is_agents(file) and (file == handler.file or frames.is_users(file)):
            yield running


def _list_names(frame: FrameType, handler: handlers.Handler) -> dict[str, int]:
    """The expressions of a function that may be the size, with their ranks."""
    path = find_running(frame)
    if not path:
        return {}
    function = find_innermost(path, FUNCTIONS) or path[0]
    nodes = [node for _, node in zip(range(_NODES), ast.walk(function))]
    ranks = {text: _WORD for node in nodes if (text := spell(node)) and _SIZES.search(text)}
    if isinstance(function, FUNCTIONS):
        ranks.update((argument.arg, _PARAMETER) for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs))
    catching = _find_try(path, handler.line) if frame.f_code.co_filename == handler.file else None
    if catching is not None:
        ranks.update((text, _LOOP) for text in _list_of_loop(catching, path))
        body = [statement for taking in getattr(catching, "handlers", ()) if taking.lineno == handler.line for statement in taking.body]
        ranks.update((text, _HANDLER) for text in (*_list_of_methods(body, frame), *_list_targets(body)))
    counters = {text for node in nodes if isinstance(node, ast.For) and _counts(node) for text in _list_targets([node])}
    return {text: rank for text, rank in list(ranks.items())[:_MOST_NAMES] if text not in counters}


def _find_try(path: list[ast.AST], line: int) -> ast.AST | None:
    """The statement around a running line that begins on `line`, or has a handler there."""
    return next((node for node in reversed(path) if any(it.lineno == line for it in (*getattr(node, "handlers", ()), node) if hasattr(it, "lineno"))), None)


def _list_of_loop(catching: ast.AST, path: list[ast.AST]) -> Iterator[str]:
    """The targets of the loop around a `try`, and the numbers that the loop makes smaller behind it."""
    loop = find_innermost(path[: path.index(catching)], LOOPS)
    if isinstance(loop, ast.For):
        yield from _list_targets([loop])
    for statement in loop.body if loop is not None else ():
        for node in ast.walk(statement) if statement is not catching else ():
            name = handlers.find_smaller(node)
            if name is not None:
                yield name


def _list_targets(statements: list) -> Iterator[str]:
    """The assigned names, attributes and items; of a loop its own targets alone."""
    for statement in statements:
        for node in [statement] if isinstance(statement, ast.For) else ast.walk(statement):
            targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
            for target in targets:
                for part in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
                    text = spell(part)
                    if text:
                        yield text


def _list_of_methods(statements: list[ast.stmt], frame: FrameType) -> Iterator[str]:
    """The attributes that called methods assign, such as `self.batch` in `self.shrink()`."""
    scope = Scope.of_frame(frame)
    for call in (node for statement in statements for node in ast.walk(statement) if isinstance(node, ast.Call)):
        owner = spell(call.func.value) if isinstance(call.func, ast.Attribute) else None
        method = objects.find_in_class(scope.read(owner), call.func.attr) if owner else None
        if type(method) is FunctionType and not frames.is_installed(method.__code__.co_filename):
            own = method.__code__.co_varnames[0] if method.__code__.co_argcount else ""
            definition = trees.find_definition(method.__code__, method.__globals__)
            for text in _list_targets([definition] if definition is not None else []):
                if own and re.match(rf"{own}[.\[]", text):
                    yield owner + text[len(own) :]


def _counts(loop: ast.For) -> bool:
    """True for a loop over numbers that rise."""
    call = loop.iter
    return name_of_call(call) in _COUNTERS and (len(call.args) < 3 or not isinstance(call.args[2], ast.UnaryOp))


def _read_numbers(frame: FrameType, names: list[str]) -> Iterator[tuple[str, int]]:
    """The values of those expressions that are whole numbers, read without running code of the program."""
    scope = Scope.of_frame(frame)
    for name in names:
        value = scope.read(name)
        if type(value) is int:
            yield name, value
