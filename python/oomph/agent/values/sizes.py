"""Reads of unknown values that may decide a size, by the source of the reading code.

Note [Sizes from reads]
~~~~~~~~~~~~~~~~~~~~~~~
Most programs read a loss to print the number, and the read decides nothing. Others read a length, and make the next tensor of that length. Both reads are
the same call, so only the source tells the use of the number. The number is followed through expressions, assigned names, and callers that
receive a returned number, and into functions of the program. A size is possible if the number becomes a subscript, a bound of a slice, or an
argument of a foreign function other than the functions that print, log, collect or compute; a floating-point number only after a conversion to an
integer. A comparison ends the way: a branch is decided, and no size. So does a text: by `%`, or from a table of texts.

The answer errs on the side of a size: without a source, each whole number may decide a size. So it does once `_NODES` nodes of sources were
visited: in a script of 50,000 lines each of 10,000 lines may read a number.
"""

import ast
import itertools
from collections.abc import Iterator
from types import FrameType

from ..failure import guarded
from ..process import frames
from ..process.objects import Budget, Spent
from ..source import trees
from ..source.flow import FUNCTIONS, find_innermost
from ..source.functions import find_called
from ..source.names import last_name, name_of_call
from ..source.scope import Scope
from ..source.spans import find_running

# The functions that read a number, and those that copy a tensor to the host.
_NUMBERS, _COPIES = {"item", "tolist", "int", "float", "bool"}, {"tolist", "cpu", "numpy", "to"}
_WHOLE = {"int", "round", "floor", "ceil", "trunc", "rint", "long"}
# Functions whose result is made of the number.
_PASSING = {"abs", "max", "min", "sum", "sorted", "list", "tuple", "float", "item", "tolist", "cpu", "numpy", "detach", "sqrt", "exp", "log", "log2", "log10", "mean", "pow"}
# Functions that show, compare or collect numbers.
_SINKS = {
    *("print", "str", "repr", "format", "append", "extend", "add", "update", "write", "info", "debug", "warning", "warn", "error", "log", "bool"),
    *("log_dict", "log_metric", "log_metrics", "add_scalar", "add_scalars", "set_postfix", "set_postfix_str", "set_description", "isnan", "isinf"),
    *("isfinite", "isclose", "join", "dump", "dumps", "put", "record", "report", "observe", "step", "write_text", "len", "type", "isinstance"),
    # Arithmetic of a tensor with a number.
    *("fill_", "masked_fill", "masked_fill_", "clamp", "clamp_", "add_", "mul", "mul_", "sub", "sub_", "div", "div_", "eq", "ne", "lt", "le", "gt", "ge"),
}
# Modules that read whole tensors, and write them.
_WRITERS = {"torch.serialization", "torch.storage", "safetensors.torch"}
_MOST_FRAMES = 12
_MOST_NAMES = 64
# The functions that a number is followed into, one inside the other; the texts of a table that are compared.
_MOST_CALLS = 4
_MOST_TEXTS = 256
_NODES = 10_000_000


_decided: dict[tuple, bool] = {}
_budget = Budget(_NODES)


@guarded
def may_decide(frame: FrameType | None, is_whole: bool, is_copy: bool = False) -> bool:
    """True if the number that `frame` reads now may become a size; `is_whole` for integers, `is_copy` for a copy of a tensor to the host."""
    while frame is not None and frames.is_agents(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return False
    key = (frame.f_code, frame.f_lineno, frames.users_line(frame), is_whole, is_copy)
    if key not in _decided:
        try:
            _decided[key] = _decide(frame, is_whole, _COPIES if is_copy else _NUMBERS)
        except Spent:
            _decided[key] = is_whole
    return _decided[key]


def _decide(frame: FrameType | None, is_whole: bool, reading: set[str]) -> bool:
    called = reading
    for _ in range(_MOST_FRAMES):
        if frame is None or frame.f_globals.get("__name__") in _WRITERS:
            return False
        path = find_running(frame)
        if not path:
            return is_whole
        found = _Flow(path, Scope.of_frame(frame)).follow(frame.f_lineno, called, is_whole)
        if found is not None:
            return found
        # The number is returned.
        called, frame = {frame.f_code.co_name}, frame.f_back
    return is_whole


class _Flow:
    """The way of a number through a function; `path`: the nodes from the module to a statement of the function."""

    def __init__(self, path: list[ast.AST], values: Scope, depth: int = 0) -> None:
        self._tree, self._statement = path[0], path[-1]
        self._scope = find_innermost(path, FUNCTIONS) or self._tree
        self._values = values
        self._depth = depth
        self._parents: dict[ast.AST, ast.AST] = {}
        self._noted: set[ast.AST] = set()
        self._names: list[tuple[str, bool, bool]] = []
        self._is_returned = False

    def follow(self, line: int, called: set[str], is_whole: bool) -> bool | None:
        """True if the number may become a size, `None` if the caller decides. `called`: the functions that read it in the line, or return it to the line."""
        self._note_parents(self._scope)
        reads = list(self._list_reads(line, called))
        if not reads:
            # An index without a call, a call of another function, or a condition.
            return None if isinstance(self._statement, ast.Return) else is_whole and not isinstance(self._statement, (ast.If, ast.While, ast.Assert))
        if any(self._becomes_size(read, is_whole) for read in reads) or self._names_become_sizes():
            return True
        return None if self._is_returned else False

    def follow_argument(self, name: str, is_whole: bool) -> bool:
        """True if an argument of the function may become a size inside it."""
        self._note_parents(self._scope)
        self._names.append((name, False, is_whole))
        return self._names_become_sizes()

    def _list_reads(self, line: int, called: set[str]) -> list[ast.Call]:
        """The calls in the line that read, or that returned the number."""
        calls = [it for it in ast.walk(self._statement) if isinstance(it, ast.Call) and it.lineno <= line <= it.end_lineno]
        named = [it for it in calls if name_of_call(it) in called]
        if named or not called.isdisjoint(_NUMBERS | _COPIES):
            return named
        # `model(...)` calls `forward`.
        return calls[:1]

    def _names_become_sizes(self) -> bool:
        done = set()
        while self._names and len(done) < _MOST_NAMES:
            name, is_attribute, is_whole = self._names.pop()
            if (name, is_whole) in done:
                continue
            done.add((name, is_whole))
            scope = self._tree if is_attribute or self._scope is self._tree else self._scope
            self._note_parents(scope)
            if any(self._becomes_size(use, is_whole) for use in _walk(scope) if _is_use(use, name, is_attribute)):
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
                return is_whole and not self._has_texts(parent)
            if isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is node:
                self._note_target(parent.target, is_whole)
                return False
            if isinstance(parent, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
                for target in parent.targets if isinstance(parent, ast.Assign) else [parent.target]:
                    self._note_target(target, is_whole)
            if isinstance(parent, ast.Return):
                self._is_returned = True
            if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mod) and _is_text(parent.left):
                return False
            if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Div):
                is_whole = False
            if isinstance(parent, ast.Call) and parent.func is not node:
                name = name_of_call(parent)
                if name in _WHOLE and not (name == "round" and len(parent.args) > 1):
                    is_whole = True
                elif name in _SINKS:
                    return False
                elif name not in _PASSING and name != "round":
                    inside = self._follow_into(parent, node, is_whole)
                    if inside is not False:
                        return is_whole if inside is None else inside
            node = parent
        return False

    def _follow_into(self, call: ast.Call, argument: ast.expr, is_whole: bool) -> bool | None:
        """True if an argument may become a size in the program's own function; `None` for foreign functions."""
        made = find_called(call, self._values) if self._depth < _MOST_CALLS else None
        if made is None:
            return None
        function, bound = made
        definition = trees.find_definition(function.__code__, function.__globals__)
        name = _name_parameter(call, argument, definition, len(bound))
        if name is None:
            return None
        module = trees.parse(function.__code__.co_filename, function.__globals__)
        return _Flow([module, definition], self._values.of_call(function, {}), self._depth + 1).follow_argument(name, is_whole)

    def _has_texts(self, node: ast.AST) -> bool:
        """True for an item of a table of texts, as of words by number."""
        table = self._values.evaluate(node.value) if isinstance(node, ast.Subscript) else None
        if type(table) not in (dict, list, tuple) or not table:
            return False
        texts = table.values() if type(table) is dict else table
        return all(type(it) is str for it in itertools.islice(texts, _MOST_TEXTS))

    def _note_target(self, target: ast.expr, is_whole: bool) -> None:
        for node in [target] if not isinstance(target, (ast.Tuple, ast.List)) else target.elts:
            if isinstance(node, ast.Name):
                self._names.append((node.id, False, is_whole))
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


def _is_use(node: ast.AST, name: str, is_attribute: bool) -> bool:
    kinds = (ast.Name, ast.Attribute) if is_attribute else ast.Name
    return isinstance(node, kinds) and last_name(node) == name and isinstance(node.ctx, ast.Load)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _name_parameter(call: ast.Call, argument: ast.expr, definition: ast.AST | None, bound: int) -> str | None:
    """The parameter that an argument is given to; `None` if it is not a parameter of its own."""
    if not isinstance(definition, FUNCTIONS) or any(isinstance(it, ast.Starred) for it in call.args):
        return None
    if argument in call.args:
        names = [it.arg for it in (*definition.args.posonlyargs, *definition.args.args)]
        return dict(enumerate(names)).get(call.args.index(argument) + bound)
    return argument.arg if isinstance(argument, ast.keyword) else None
