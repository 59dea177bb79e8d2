"""The passes of a loop that differ from earlier passes: a condition changes, or a chosen value does; and the last pass.

A pass is described by the loop's target and its counters. Conditions and chosen values that depend on target and counters alone are computed for each pass
to come (`expressions`). A pass is wanted for a value that no pass so far had. A condition that decides about the optimizer's
step is wanted three times: an optimizer has all state after the first step, and repeats after the second.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ..process.objects import Budget, Spent
from ..source.flow import LOOPS, SCOPES
from ..source.scope import Scope
from .counters import find_place
from .expressions import Reducer, UnknownPart, compile_function, list_variables
from .reached import Body, enter_methods
from .rewriting import Loop

# The most values of an expression, and the passes wanted of a condition that decides about the optimizer's step.
_MOST_VALUES, _STEPS_WANTED = 64, 3
# The values of an expression after which a value in each pass is a mere number.
_FEWEST_VALUES = 3
# Passes with the same value, if each keeps more memory.
_MOST_GROWN = 100
_BRANCHING = (ast.If, ast.Match, ast.ExceptHandler)
_CHOOSING = (ast.Compare, ast.Subscript, ast.IfExp, ast.BoolOp, ast.Call)
_CHOOSING_OPERATORS = (ast.FloorDiv, ast.Mod)


@dataclass
class Watch:
    """An expression; a new value makes a pass wanted."""

    function: Callable
    # The variables of the expression.
    reads: frozenset[str]
    # True if a pass may have several values, because a loop inside changes a counter.
    is_nested: bool = False
    # True if the loop ends where this is true, or false.
    ends_if: bool | None = None
    # True for a condition, of which only the truth matters.
    is_condition: bool = False
    # Counts of passes by value.
    seen: dict[object, int] = field(default_factory=dict)
    # Counts of passes with a step, by value.
    steps: dict[object, int] = field(default_factory=dict)
    # The values whose last pass left more memory.
    grown: set[object] = field(default_factory=set)

    def value(self, arguments: list) -> object:
        """The value in a pass; `None` if unknown."""
        try:
            value = self.function(*arguments)
            value = bool(value) if self.is_condition and value is not None else value
            hash(value)
        except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError):
            return None
        # A table of the program's may choose among functions, for example.
        return value if value is None or type(value) in (int, float, bool, str) else ("object", id(value))

    def note(self, value: object, has_stepped: bool, has_grown: bool) -> None:
        """Counts a pass that ran."""
        (self.grown.add if has_grown else self.grown.discard)(value)
        self.seen[value] = self.seen.get(value, 0) + 1
        self.steps[value] = self.steps.get(value, 0) + has_stepped

    def is_new(self, value: object) -> bool:
        """True if too few passes had the value."""
        count = self.seen.get(value, 0)
        if count == 0:
            # A number that is another in each pass chooses nothing. It is false where a condition around it is.
            counts = [times for it, times in self.seen.items() if it is not False]
            is_number = len(counts) >= _FEWEST_VALUES and all(times == 1 for times in counts)
            return len(self.seen) < _MOST_VALUES and not is_number
        wanted = _MOST_GROWN if value in self.grown else _STEPS_WANTED if self._decides_steps(value) else 1
        return count < wanted

    def _decides_steps(self, value: object) -> bool:
        others = [it for it in self.seen if it != value]
        return bool(self.steps.get(value)) and bool(others) and not any(self.steps[it] for it in others)


class Plan:
    """The watches of a loop."""

    def __init__(self, loop: Loop, bodies: list[Body], counters: list, seen: dict[tuple, tuple[dict, dict, set]], budget: Budget) -> None:
        self._loop = loop
        # The counts of each expression, kept by the run from plan to plan.
        self._seen = seen
        self._budget = budget
        self._targets: list[str] = []
        self._counters = counters
        self._names = names = loop.counters
        self._own = bodies[0]
        # True to take counters at the end of a pass; and whether begin or end matter for the last expression, without a known answer.
        self._is_behind = self._is_rough = False
        self._additions = _find_additions(bodies)
        reducer = Reducer(self._bind(loop), self._find_counter, bodies[0])
        self.variables = [*self._targets, *(f"{it}{index}" for index in range(len(counters) + len(names)) for it in "vw")]
        self.watches: list[Watch] = []
        # The conditions that are not known from the pass.
        self.open_conditions: list[tuple[ast.If, Body]] = []
        # True while conditions are watched, not values.
        self._is_condition = False
        # True for the condition of a `while`, which comes before all additions.
        self._is_head = False
        try:
            for body in bodies:
                self._watch(body, reducer)
        except Spent:
            # The watches so far have to do.
            self._is_rough = False

    def forget_scopes(self) -> None:
        """Forgets the variables of the program, which a plan must not keep alive."""
        self.open_conditions.clear()
        del self._own, self._counters

    def list_used(self, count: int) -> list[int]:
        """The counters that a watch reads."""
        names = {name for watch in self.watches for name in watch.reads}
        return [index for index in range(count) if names & {f"v{index}", f"w{index}"}]

    def has_changes(self) -> bool:
        """True if a value is wanted again, since passes with the value change something for good."""
        return any(watch.grown for watch in self.watches)

    def _bind(self, loop: Loop) -> dict[str, ast.expr]:
        """The names of the target, each a variable: `t0`, or an item of it."""
        self._targets.append("t0")
        found: dict[str, ast.expr] = {}
        if isinstance(loop.node, ast.For):
            _bind(loop.node.target, ast.Name("t0", ast.Load()), found)
        return found

    def _find_counter(self, node: ast.expr, scope: Scope) -> str | None:
        """The variable of a counter: with `v` its value at the begin of the pass, with `w` behind the addition."""
        is_own = scope is self._own.scope
        if isinstance(node, ast.Name) and is_own and node.id in self._names:
            index = self._names.index(node.id)
        else:
            place = find_place(node, scope, self._names if is_own else [])
            index = next((n for n, it in enumerate(self._counters) if place and it.namespace is place[1] and it.key == place[2]), None)
            if index is None:
                return None
            index += len(self._names)
        line = self._additions.get((id(scope), ast.unparse(node)))
        if line is None:
            self._is_rough = True
        is_behind = self._is_behind if line is None else not self._is_head and line < node.lineno
        return f"{'w' if is_behind else 'v'}{index}"

    def _watch(self, body: Body, reducer: Reducer) -> None:
        guards = _find_guards(body.statements)
        for node in body.walk():
            self._budget.spend()
            is_nested = body.is_looped(node)
            reducer.is_open = False
            for expression, ends_if in _list_watched(node, is_nested or body is not self._own):
                whole = _guarded(expression, guards.get(id(node), ()))
                self._is_condition = isinstance(node, (ast.If, ast.IfExp, ast.While))
                self._add(id(expression), whole, ends_if, is_nested or body.is_nested, body, reducer)
            if isinstance(node, ast.Subscript) and _chooses(node.slice) and any(enter_methods(node, body)):
                # A method of the program's own gets the index.
                self._is_condition = False
                self._add(id(node.slice), node.slice, None, is_nested or body.is_nested, body, reducer)
            if isinstance(node, ast.If) and reducer.is_open:
                self.open_conditions.append((node, body))
        if body is self._own and isinstance(self._loop.node, ast.While):
            self._is_condition = True
            self._add(id(self._loop.node), self._loop.node.test, False, False, body, reducer)

    def _add(self, number: int, expression: ast.expr, ends_if: bool | None, is_nested: bool, body: Body, reducer: Reducer) -> None:
        self._is_head = ends_if is False
        for self._is_behind in (False, True):
            self._is_rough = False
            self._add_one(number, expression, ends_if, is_nested, body, reducer)
            if not self._is_rough:
                break

    def _add_one(self, number: int, expression: ast.expr, ends_if: bool | None, is_nested: bool, body: Body, reducer: Reducer) -> None:
        try:
            tree = reducer.reduce(expression, body)
            reads = list_variables(tree, self.variables)
            if reads:
                key = (number, self._is_behind, body.owner)
                seen, steps, grown = self._seen.setdefault(key, ({}, {}, set()))
                function = compile_function(tree, self.variables, reducer.constants)
                self.watches.append(Watch(function, reads, is_nested, ends_if, self._is_condition, seen, steps, grown))
        except (UnknownPart, RecursionError, ValueError, TypeError, SyntaxError):
            # Not a function of the pass.
            return


def _find_additions(bodies: list[Body]) -> dict[tuple[int, str], int]:
    """The line of the addition to each counter, by the scope of the code and the text of the target."""
    found: dict[tuple[int, str], int] = {}
    for body in bodies:
        for node in body.walk():
            if isinstance(node, ast.AugAssign):
                found.setdefault((id(body.scope), ast.unparse(node.target)), node.lineno)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
                if ast.unparse(node.value.left) == ast.unparse(node.targets[0]):
                    found.setdefault((id(body.scope), ast.unparse(node.targets[0])), node.lineno)
    return found


def _bind(target: ast.expr, value: ast.expr, found: dict[str, ast.expr]) -> None:
    if isinstance(target, ast.Name):
        found[target.id] = value
    elif isinstance(target, (ast.Tuple, ast.List)) and not any(isinstance(it, ast.Starred) for it in target.elts):
        for index, part in enumerate(target.elts):
            _bind(part, ast.Subscript(value, ast.Constant(index), ast.Load()), found)


def _find_guards(statements: list[ast.stmt]) -> dict[int, tuple[ast.expr, ...]]:
    """The conditions around each condition, by its identity."""
    found: dict[int, tuple[ast.expr, ...]] = {}
    waiting: list[tuple[ast.AST, tuple[ast.expr, ...]]] = [(it, ()) for it in statements]
    while waiting:
        node, around = waiting.pop()
        if isinstance(node, SCOPES):
            continue
        if around and isinstance(node, ast.If):
            found[id(node)] = around
        inner = {id(it): (*around, node.test) for it in node.body} if isinstance(node, ast.If) else {}
        if isinstance(node, ast.If):
            inner |= {id(it): (*around, ast.UnaryOp(ast.Not(), node.test)) for it in node.orelse}
        waiting += [(it, inner.get(id(it), around)) for it in ast.iter_child_nodes(node)]
    return found


def _guarded(expression: ast.expr, guards: tuple[ast.expr, ...]) -> ast.expr:
    """True where a condition and those around it hold."""
    return ast.BoolOp(ast.And(), [*guards, expression]) if guards else expression


def _list_watched(node: ast.AST, is_inner: bool) -> Iterator[tuple[ast.expr, bool | None]]:
    """The choosing expressions of a node, conditions and values among a few, each with the truth that ends the loop."""
    if isinstance(node, ast.If):
        yield node.test, (True if not is_inner and _leaves(node.body) else None)
    elif isinstance(node, (ast.IfExp, ast.While)):
        yield node.test, None
    elif isinstance(node, ast.Assign) and _chooses(node.value):
        yield node.value, None
    elif isinstance(node, ast.Call):
        yield from ((it, None) for it in (*node.args, *(word.value for word in node.keywords)) if _chooses(it))
    elif isinstance(node, ast.comprehension):
        yield node.iter, None


def _leaves(block: list[ast.AST]) -> bool:
    """True if the block surely leaves the loop around: not a loop inside, and without a further condition, which is watched by itself."""
    for node in block:
        if isinstance(node, (ast.Break, ast.Return)):
            return True
        if not isinstance(node, (*LOOPS, *SCOPES, *_BRANCHING)) and _leaves(list(ast.iter_child_nodes(node))):
            return True
    return False


def _chooses(node: ast.expr) -> bool:
    return any(isinstance(it, _CHOOSING) or _is_number_chosen(it) for it in ast.walk(node))


def _is_number_chosen(node: ast.AST) -> bool:
    """True for a division; text is formatted by the same sign."""
    is_division = isinstance(node, ast.BinOp) and isinstance(node.op, _CHOOSING_OPERATORS)
    return is_division and not (isinstance(node.left, ast.JoinedStr) or (isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)))
