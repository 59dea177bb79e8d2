"""Reads of unknown values that may decide a size, by the source of the reading code.

Note [Sizes from reads]
~~~~~~~~~~~~~~~~~~~~~~~
Most programs read a loss to print the number, and the read decides nothing. Others read a length, and make the next tensor of that length. Both reads are
the same call, so only the source tells the use of the number. The number is followed through expressions, assigned names, and callers that
receive a returned number. A size is possible if the number becomes a subscript, a bound of a slice, or an argument of a function
other than the functions that print, log or collect; a floating-point number only after a conversion to an integer. A comparison ends the
way: a branch is decided, and no size.

The answer errs on the side of a size: without a source, each whole number may decide a size. So it does once `_NODES` nodes of sources were
visited: in a script of 50,000 lines each of 10,000 lines may read a number.
"""

import ast
from collections.abc import Iterator
from types import FrameType

from ..failure import guarded
from ..process import frames
from ..process.objects import Budget, Spent
from ..source.flow import FUNCTIONS, find_innermost
from ..source.names import last_name, name_of_call
from ..source.spans import find_running

_READS = {"item", "tolist", "cpu", "numpy", "int", "float", "bool", "to"}
_WHOLE = {"int", "round", "floor", "ceil", "trunc", "rint", "long"}
# Functions whose result is made of the number.
_PASSING = {"abs", "max", "min", "sum", "sorted", "list", "tuple", "float", "item", "tolist", "cpu", "numpy", "detach", "sqrt", "exp", "log", "log2", "log10", "mean", "pow"}
# Functions that show, compare or collect numbers.
_SINKS = {
    *("print", "str", "repr", "format", "append", "extend", "add", "update", "write", "info", "debug", "warning", "warn", "error", "log", "bool"),
    *("log_dict", "log_metric", "log_metrics", "add_scalar", "add_scalars", "set_postfix", "set_postfix_str", "set_description", "isnan", "isinf"),
    *("isfinite", "isclose", "join", "dump", "dumps", "put", "record", "report", "observe", "step", "write_text", "len", "type", "isinstance"),
}
# Modules that read whole tensors, and write them.
_WRITERS = {"torch.serialization", "torch.storage", "safetensors.torch"}
_MOST_FRAMES = 12
_MOST_NAMES = 64
_NODES = 10_000_000


_decided: dict[tuple, bool] = {}
_budget = Budget(_NODES)


@guarded
def may_decide(frame: FrameType | None, is_whole: bool) -> bool:
    """True if the number that `frame` reads now may become a size; `is_whole` for integers."""
    while frame is not None and frames.is_agents(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return False
    key = (frame.f_code, frame.f_lineno, frames.users_line(frame), is_whole)
    if key not in _decided:
        try:
            _decided[key] = _decide(frame, is_whole)
        except Spent:
            _decided[key] = is_whole
    return _decided[key]


def _decide(frame: FrameType | None, is_whole: bool) -> bool:
    called = None
    for _ in range(_MOST_FRAMES):
        if frame is None or frame.f_globals.get("__name__") in _WRITERS:
            return False
        path = find_running(frame)
        if not path:
            return is_whole
        found = _Flow(path, frame.f_lineno, called).follow(is_whole)
        if found is not None:
            return found
        # The number is returned.
        called, frame = frame.f_code.co_name, frame.f_back
    return is_whole


class _Flow:
    """The way of a number from its read."""

    def __init__(self, path: list[ast.AST], line: int, called: str | None) -> None:
        self._tree, self._statement = path[0], path[-1]
        self._scope = find_innermost(path, FUNCTIONS) or self._tree
        self._parents: dict[ast.AST, ast.AST] = {}
        self._noted: set[ast.AST] = set()
        self._names: list[tuple[str, bool, bool]] = []
        self._is_returned = False
        self._line = line
        # The function that returned the number to this line; `None` if the line reads.
        self._called = called

    def follow(self, is_whole: bool) -> bool | None:
        """True if the number may become a size, `None` if the caller decides."""
        self._note_parents(self._scope)
        reads = list(self._reads())
        if not reads:
            # An index without a call, a call of another function, or a condition.
            return None if isinstance(self._statement, ast.Return) else is_whole and not isinstance(self._statement, (ast.If, ast.While, ast.Assert))
        if any(self._becomes_size(read, is_whole) for read in reads) or self._names_become_sizes():
            return True
        return None if self._is_returned else False

    def _reads(self) -> Iterator[ast.Call]:
        """The calls in the line that read, or that returned the number."""
        calls = [it for it in ast.walk(self._statement) if isinstance(it, ast.Call) and it.lineno <= self._line <= it.end_lineno]
        if self._called is None:
            return iter([it for it in calls if name_of_call(it) in _READS])
        named = [it for it in calls if name_of_call(it) == self._called]
        # `model(...)` calls `forward`.
        return iter(named or calls[:1])

    def _names_become_sizes(self) -> bool:
        done = set()
        while self._names and len(done) < _MOST_NAMES:
            name, is_attribute, is_whole = self._names.pop()
            if (name, is_whole) in done:
                continue
            done.add((name, is_whole))
            scope = self._tree if is_attribute else self._scope
            self._note_parents(scope)
            if any(self._becomes_size(use, is_whole) for use in _walk(scope) if _is_use(use, name)):
                return True
        return False

    def _becomes_size(self, node: ast.AST, is_whole: bool) -> bool:
        """Follows a value upwards to the end of its statement."""
        while (parent := self._parents.get(node)) is not None and not isinstance(node, ast.stmt):
            if isinstance(parent, (ast.Compare, ast.BoolOp, ast.JoinedStr, ast.FormattedValue)):
                return False
            if isinstance(parent, (ast.If, ast.While, ast.Assert, ast.IfExp)) and parent.test is node:
                return False
            if isinstance(parent, ast.Slice) or (isinstance(parent, ast.Subscript) and parent.slice is node):
                return is_whole
            if isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is node:
                self._note_target(parent.target, is_whole)
                return False
            if isinstance(parent, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
                for target in parent.targets if isinstance(parent, ast.Assign) else [parent.target]:
                    self._note_target(target, is_whole)
            if isinstance(parent, ast.Return):
                self._is_returned = True
            if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Div):
                is_whole = False
            if isinstance(parent, ast.Call) and parent.func is not node:
                name = name_of_call(parent)
                if name in _WHOLE and not (name == "round" and len(parent.args) > 1):
                    is_whole = True
                elif name in _SINKS:
                    return False
                elif name not in _PASSING and name != "round":
                    return is_whole
            node = parent
        return False

    def _note_target(self, target: ast.expr, is_whole: bool) -> None:
        for node in [target] if not isinstance(target, (ast.Tuple, ast.List)) else target.elts:
            if isinstance(node, ast.Name):
                self._names.append((node.id, self._scope is self._tree, is_whole))
            elif isinstance(node, ast.Attribute):
                self._names.append((node.attr, True, is_whole))

    def _note_parents(self, scope: ast.AST) -> None:
        if scope in self._noted:
            return
        for node in _walk(scope):
            self._noted.add(node)
            for child in ast.iter_child_nodes(node):
                self._parents[child] = node


def _walk(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope. Raises `Spent`."""
    for node in ast.walk(scope):
        _budget.spend()
        yield node


def _is_use(node: ast.AST, name: str) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute)) and last_name(node) == name and isinstance(node.ctx, ast.Load)
