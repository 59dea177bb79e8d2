"""The way of a number through a program's source: whether it may become a size. See Note [Sizes from reads] in `values.sizes`."""

import ast
import itertools
from collections.abc import Iterator

from ..process.objects import Budget
from . import trees
from .flow import FUNCTIONS, find_innermost
from .functions import find_called
from .names import last_name, name_of_call
from .scope import Scope
from .spans import span_of

# The functions that read a number, and those that copy a tensor to the host.
NUMBERS, COPIES = {"item", "tolist", "int", "float", "bool"}, {"tolist", "cpu", "numpy", "to"}
_WHOLE = {"int", "round", "floor", "ceil", "trunc", "rint", "long"}
# Functions whose result is made of the number.
_PASSING = {"abs", "max", "min", "sum", "sorted", "list", "tuple", "float", "item", "tolist", "cpu", "numpy", "detach", "sqrt", "exp", "log", "log2", "log10", "mean", "pow"}
# Functions that show, compare or collect numbers.
_SINKS = {
    *("print", "str", "repr", "format", "append", "extend", "add", "update", "write", "info", "debug", "warning", "warn", "error", "log", "bool"),
    *("log_dict", "log_metric", "log_metrics", "add_scalar", "add_scalars", "set_postfix", "set_postfix_str", "set_description", "isnan", "isinf"),
    *("isfinite", "isclose", "join", "dump", "dumps", "put", "record", "report", "observe", "step", "write_text", "len", "type", "isinstance"),
    *("seed", "manual_seed", "manual_seed_all", "seed_everything", "set_seed", "sleep", "reset"),
    # Arithmetic of a tensor with a number.
    *("fill_", "masked_fill", "masked_fill_", "clamp", "clamp_", "add_", "mul", "mul_", "sub", "sub_", "div", "div_", "eq", "ne", "lt", "le", "gt", "ge"),
}
_MOST_NAMES = 64
# The functions that a number is followed into, one inside the other; the texts of a table that are compared.
_MOST_CALLS = 4
_MOST_TEXTS = 256


class NumberFlow:
    """The way of a number through a function; `path`: the nodes from the module to a statement of the function.

    `is_drawn`: the number is drawn by lot. It then decides about a conditional expression, too, but as an index only chooses an element.
    """

    def __init__(self, path: list[ast.AST], values: Scope, budget: Budget, is_drawn: bool = False, depth: int = 0) -> None:
        self._tree, self._statement = path[0], path[-1]
        # The function, or the module.
        self.scope = find_innermost(path, FUNCTIONS) or self._tree
        self._values = values
        self._budget = budget
        self._is_drawn = is_drawn
        self._depth = depth
        self._parents: dict[ast.AST, ast.AST] = {}
        self._noted: set[ast.AST] = set()
        self._names: list[tuple[str, bool, bool]] = []
        self._is_returned = False
        # True if a returned value is whole, or chosen by lot.
        self.returns_whole = False

    def follow(self, line: int, called: set[str], is_whole: bool) -> bool | None:
        """True if the number may become a size, `None` if the caller decides. `called`: the functions that read it in the line, or return it to the line."""
        self._note_parents(self.scope)
        reads = list(self._list_reads(line, called))
        if not reads:
            # An index without a call, a call of another function, or a condition.
            return None if isinstance(self._statement, ast.Return) else is_whole and not isinstance(self._statement, (ast.If, ast.While, ast.Assert))
        if any(self._becomes_size(read, is_whole) for read in reads) or self._names_become_sizes():
            return True
        return None if self._is_returned else False

    def follow_argument(self, name: str, is_whole: bool) -> bool:
        """True if an argument of the function may become a size inside it."""
        self._note_parents(self.scope)
        self._names.append((name, False, is_whole))
        return self._names_become_sizes()

    def follow_call(self, call: ast.Call, is_whole: bool) -> bool | None:
        """As `follow`, of the number that a call in the function makes. The call may be of another tree of the same source."""
        self._note_parents(self.scope)
        place = span_of(call)
        own = (it for it in self._walk(self.scope) if isinstance(it, ast.Call) and span_of(it) == place)
        if any(self._becomes_size(it, is_whole) for it in own) or self._names_become_sizes():
            return True
        return None if self._is_returned else False

    def follow_calls(self, called: set[str], is_whole: bool) -> bool | None:
        """As `follow`, of all calls of these functions."""
        self._note_parents(self.scope)
        calls = [it for it in self._walk(self.scope) if isinstance(it, ast.Call) and name_of_call(it) in called]
        if any(self._becomes_size(it, is_whole) for it in calls) or self._names_become_sizes():
            return True
        return None if self._is_returned else False

    def _list_reads(self, line: int, called: set[str]) -> list[ast.Call]:
        """The calls in the line that read, or that returned the number."""
        calls = [it for it in ast.walk(self._statement) if isinstance(it, ast.Call) and it.lineno <= line <= it.end_lineno]
        named = [it for it in calls if name_of_call(it) in called]
        if named or not called.isdisjoint(NUMBERS | COPIES):
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
            scope = self._tree if is_attribute or self.scope is self._tree else self.scope
            self._note_parents(scope)
            if any(self._becomes_size(use, is_whole) for use in self._walk(scope) if _is_use(use, name, is_attribute)):
                return True
        return False

    def _becomes_size(self, node: ast.AST, is_whole: bool) -> bool:
        """Follows a value upwards to the end of its statement."""
        while (parent := self._parents.get(node)) is not None and not isinstance(node, ast.stmt):
            if self._is_drawn and isinstance(parent, ast.BoolOp) and any(isinstance(it, ast.Call) for it in ast.walk(parent.values[-1])):
                # `lots() < 0.1 and compute()`: a rare call.
                return True
            if self._is_drawn and isinstance(parent, (ast.Compare, ast.BoolOp, ast.IfExp)):
                is_whole, node = True, parent
                continue
            if isinstance(parent, (ast.Compare, ast.BoolOp, ast.JoinedStr, ast.FormattedValue)):
                return False
            if isinstance(parent, (ast.If, ast.While, ast.Assert, ast.IfExp)) and parent.test is node:
                return False
            if isinstance(parent, ast.Slice) or (isinstance(parent, ast.Subscript) and parent.slice is node):
                return is_whole and not self._has_texts(parent) and not (self._is_drawn and _is_of_one_length(parent))
            if isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is node:
                self._note_target(parent.target, is_whole)
                return False
            if isinstance(parent, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
                for target in parent.targets if isinstance(parent, ast.Assign) else [parent.target]:
                    self._note_target(target, is_whole)
            if isinstance(parent, ast.Return):
                self._is_returned = True
                self.returns_whole |= is_whole
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
        return NumberFlow([module, definition], self._values.of_call(function, {}), self._budget, self._is_drawn, self._depth + 1).follow_argument(name, is_whole)

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

    def _walk(self, scope: ast.AST) -> Iterator[ast.AST]:
        """The nodes of a scope. Raises `Spent`."""
        for node in ast.walk(scope):
            self._budget.spend()
            yield node

    def _note_parents(self, scope: ast.AST) -> None:
        if scope in self._noted:
            return
        for node in self._walk(scope):
            self._noted.add(node)
            for child in ast.iter_child_nodes(node):
                self._parents[child] = node


def _is_use(node: ast.AST, name: str, is_attribute: bool) -> bool:
    kinds = (ast.Name, ast.Attribute) if is_attribute else ast.Name
    return isinstance(node, kinds) and last_name(node) == name and isinstance(node.ctx, ast.Load)


def _is_of_one_length(node: ast.AST) -> bool:
    """True for an index, and for a slice whose ends move together: `x[at : at + size]`."""
    if not isinstance(node, ast.Slice):
        return True
    ends = [{it.id for it in ast.walk(end) if isinstance(it, ast.Name)} for end in (node.lower, node.upper) if end is not None]
    return len(ends) == 2 and not ends[0].isdisjoint(ends[1])


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
