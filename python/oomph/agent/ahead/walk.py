"""Walks through statements as the program would, without running them, and notes the calls that may take memory.

Where a condition is not known both branches are walked, and their calls are unsure. Functions of the program's own are walked too, with
the arguments that are known.
"""

import ast
import types
from collections.abc import Iterator
from dataclasses import dataclass, field

import torch

from ..process import objects
from ..source.flow import WITHS
from ..source.functions import function_of
from ..source.scope import UNKNOWN, Scope, truth
from .harmless import find_definition, is_harmless, name_of
from .loops import have_one_shape, read_passes

# How deep functions are followed.
_DEPTH = 3
# The most statements of a walk through the passes of a loop, through the past, and once through a block: enough for some hundred passes.
STATEMENTS_AHEAD = 2_000
STATEMENTS_BEHIND = 10_000
STATEMENTS_ONCE = 10_000
# The passes of an inner loop that are walked: the first, some, and the last.
_INNER_PASSES = 6

Place = tuple[str, int, int]


@dataclass
class Call:
    """A call, at one place of the source."""

    name: str
    # False while every walk to it went through a condition that is not known.
    is_sure: bool = False
    # The call of a function of the program's that led here.
    outer: Place | None = None
    # The largest known whole number of each argument, with its text.
    numbers: dict[int, tuple[int, str]] = field(default_factory=dict)


@dataclass
class Walk:
    """The calls on a way through the program."""

    calls: dict[Place, Call] = field(default_factory=dict)
    limit: int = STATEMENTS_AHEAD
    statements: int = 0
    # The items of lists that are of different shapes.
    varying: set[Place] = field(default_factory=set)
    # Rises with each possible difference in another pass: a condition, a known value, a larger number.
    events: int = 0
    # The first statement that the walk left out.
    cut_at: Place | None = None

    def is_spent(self) -> bool:
        """True if the walk is as long as a walk may be."""
        return self.statements >= self.limit

    def block(self, statements: list[ast.stmt], at: "Position") -> str | None:
        """Walks statements in order; returns how they leave the block, if they do for sure."""
        for statement in statements:
            self.statements += 1
            if self.is_spent():
                self.cut_at = self.cut_at or at.place(statement)
                return None
            left = self._statement(statement, at)
            if left is not None:
                return left
        return None

    def _statement(self, node: ast.stmt, at: "Position") -> str | None:
        for kinds, walk in _STATEMENT_WALKS:
            if isinstance(node, kinds):
                return walk(self, node, at)
        self.note(node, at)
        return type(node).__name__.lower() if isinstance(node, (ast.Break, ast.Continue, ast.Return, ast.Raise)) else None

    def _definition(self, node, at: "Position") -> None:
        at.scope.set(node.name, UNKNOWN)

    def _assign(self, node: ast.Assign | ast.AnnAssign, at: "Position") -> None:
        if node.value is not None:
            self.note(node.value, at)
            value = at.scope.evaluate(node.value)
            self.events += value is not UNKNOWN
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self._bind_assigned(target, value, node, at)

    def _bind_assigned(self, target: ast.expr, value: object, node: ast.stmt, at: "Position") -> None:
        if isinstance(target, ast.Attribute) and target.attr == "requires_grad":
            self._add(node, "requires_grad", [], at)
        bind(target, value, at.scope)

    def _augment(self, node: ast.AugAssign, at: "Position") -> None:
        self.events += 1
        self.note(node.value, at)
        load = ast.copy_location(ast.BinOp(node.target, node.op, node.value), node)
        bind(node.target, at.scope.evaluate(load), at.scope)

    def _if(self, node: ast.If, at: "Position") -> str | None:
        self.events += 1
        self.note(node.test, at)
        holds = truth(at.scope.evaluate(node.test))
        if holds is not None:
            return self.block(node.body if holds else node.orelse, at)
        unsure = at.unsure()
        ends = [self.block(body, unsure) for body in (node.body, node.orelse)]
        forget_assigned([node], at.scope)
        return ends[0] if ends[0] is not None and ends[1] is not None else None

    def _for(self, node: ast.For, at: "Position") -> str | None:
        self.note(node.iter, at)
        passes = read_passes(node, at.scope)
        for number in _choose_passes(passes.total):
            bind(node.target, passes.value(number), at.scope)
            left = self.block(node.body, at)
            if left == "return":
                return left
            if left == "break":
                return None
        if passes.total is None:
            forget_assigned(node.body, at.scope)
        return self.block(node.orelse, at)

    def _while(self, node: ast.While, at: "Position") -> str | None:
        if truth(at.scope.evaluate(node.test)) is False:
            return self.block(node.orelse, at)
        self.note(node.test, at)
        forget_assigned(node.body, at.scope)
        return "return" if self.block(node.body, at.unsure()) == "return" else None

    def _with(self, node: ast.With, at: "Position") -> str | None:
        for item in node.items:
            self.note(item.context_expr, at)
            if item.optional_vars is not None:
                bind(item.optional_vars, UNKNOWN, at.scope)
        return self.block(node.body, at)

    def _try(self, node: ast.Try, at: "Position") -> str | None:
        left = self.block(node.body, at) or self.block(node.orelse, at)
        return self.block(node.finalbody, at) or left

    def note(self, node: ast.AST, at: "Position") -> None:
        """Notes the calls in a statement or expression, the outermost first."""
        for part in ast.walk(node):
            at.scope.budget.spend()
            if isinstance(part, ast.Call):
                self._call(part, at)
            elif isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Slice):
                self._slice(part, at)
            elif isinstance(part, ast.Subscript) and not isinstance(part.slice, ast.Constant):
                self._item(part, at)

    def _item(self, node: ast.Subscript, at: "Position") -> None:
        owner = at.scope.evaluate(node.value)
        if type(owner) in (list, tuple) and any(objects.is_a(it, torch.Tensor) for it in owner[:1]) and not have_one_shape(owner):
            self.varying.add(at.place(node))

    def _slice(self, node: ast.Subscript, at: "Position") -> None:
        lower = 0 if node.slice.lower is None else at.scope.evaluate(node.slice.lower)
        upper = UNKNOWN if node.slice.upper is None else at.scope.evaluate(node.slice.upper)
        if type(lower) is int and type(upper) is int:
            self._add(node, "", [(upper - lower, node.slice)], at)

    def _call(self, node: ast.Call, at: "Position") -> None:
        found = at.scope.evaluate(node.func)
        if is_harmless(node, at.scope):
            return
        function = function_of(found)
        if function is not None:
            self._add(node, name_of(node), [], at)
            self._enter(found, function, node, at)
        else:
            self._add(node, name_of(node), list(_numbers(node, at.scope)), at)

    def _enter(self, found: object, function: types.FunctionType, node: ast.Call, at: "Position") -> None:
        """Walks the body of a function of the program's own."""
        definition = find_definition(function)
        if definition is None or at.depth >= _DEPTH or definition in at.entered:
            return
        arguments = _arguments(found, function, definition, node, at.scope)
        inner = Position(function.__code__.co_filename, at.scope.of_call(function, arguments), at.is_sure, at.depth + 1)
        inner.entered, inner.outer = (*at.entered, definition), at.place(node)
        self.block(definition.body, inner)

    def _add(self, node: ast.AST, name: str, numbers: list[tuple[int, ast.AST]], at: "Position") -> None:
        call = self.calls.setdefault(at.place(node), Call(name, outer=at.outer))
        call.is_sure |= at.is_sure
        for index, (number, source) in enumerate(numbers):
            if number > call.numbers.get(index, (-1, ""))[0]:
                call.numbers[index] = number, ast.unparse(source)
                self.events += 1


@dataclass
class Position:
    """A function of the walk: its file, its variables, and whether the way to it is sure."""

    file: str
    scope: Scope
    is_sure: bool = True
    depth: int = 0
    entered: tuple = ()
    # The place of the call that led here.
    outer: Place | None = None

    def place(self, node: ast.AST) -> Place:
        """The file, line and column of a node."""
        return self.file, node.lineno, node.col_offset

    def unsure(self) -> "Position":
        """The same, behind a condition that is not known."""
        return Position(self.file, self.scope, False, self.depth, self.entered, self.outer)


_STATEMENT_WALKS = (
    ((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef), Walk._definition),
    ((ast.Import, ast.ImportFrom, ast.Assert, ast.Global, ast.Nonlocal, ast.Pass), lambda *_: None),
    ((ast.Assign, ast.AnnAssign), Walk._assign),
    (ast.AugAssign, Walk._augment),
    (ast.If, Walk._if),
    ((ast.For, ast.AsyncFor), Walk._for),
    (ast.While, Walk._while),
    (WITHS, Walk._with),
    (ast.Try, Walk._try),
)


def bind(target: ast.expr, value: object, scope: Scope) -> None:
    """Assigns a value to a target, for the walk only."""
    if isinstance(target, ast.Name):
        scope.set(target.id, value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        parts = value if type(value) in (tuple, list) and len(value) == len(target.elts) else [UNKNOWN] * len(target.elts)
        for part, one in zip(target.elts, parts):
            bind(part, one, scope)
    elif isinstance(target, ast.Starred):
        bind(target.value, UNKNOWN, scope)
    elif isinstance(target, ast.Attribute):
        scope.set_attribute(scope.evaluate(target.value), target.attr, value)


def forget_assigned(statements: list, scope: Scope) -> None:
    """Makes the values unknown that statements may assign."""
    for statement in statements:
        for node in ast.walk(statement):
            scope.budget.spend()
            if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
                bind(node, UNKNOWN, scope)


def _choose_passes(total: int | None) -> list[int]:
    if total is None:
        return [0]
    return [*range(min(total, _INNER_PASSES - 1)), *([total - 1] if total >= _INNER_PASSES else [])]


def _numbers(node: ast.Call, scope: Scope) -> Iterator[tuple[int, ast.expr]]:
    """The whole numbers among the arguments, also in tuples and lists of them."""
    arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
    flat = [part for it in arguments for part in (it.elts if isinstance(it, (ast.Tuple, ast.List)) else [it])]
    for argument in flat:
        value = scope.evaluate(argument)
        yield (value if type(value) is int else -1), argument


def _arguments(found: object, function, definition, node: ast.Call, scope: Scope) -> dict[str, object]:
    """The parameters of a call that are known."""
    names = [argument.arg for argument in (*definition.args.posonlyargs, *definition.args.args)]
    values = [scope.evaluate(argument) for argument in node.args if not isinstance(argument, ast.Starred)]
    given = [found.__self__, *values] if function is not found else values
    named = {keyword.arg: scope.evaluate(keyword.value) for keyword in node.keywords if keyword.arg}
    defaults = dict(zip(reversed(names), reversed(function.__defaults__ or ())))
    return {**defaults, **(function.__kwdefaults__ or {}), **dict(zip(names, given)), **named}
