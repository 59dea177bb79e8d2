"""Expressions of a program as functions of a loop's target and counters.

Everything beside the variables is read once, with the present value. An unknown part makes the whole unknown, but for `and` and `or`, where the
deciding operand is enough. An unknown value is `None` here.
"""

import ast
from collections.abc import Callable

from ..source.names import name_of_call
from ..source.scope import UNKNOWN, Scope
from .reached import Body, enter, enter_property

_PLAIN = (int, float, str, bool, type(None))
_CONTAINERS = (list, tuple, set, frozenset, dict, range)
_MOST_ELEMENTS = 1 << 16
_FUNCTIONS = {"min": min, "max": max, "int": int, "float": float, "abs": abs, "round": round, "len": len, "bool": bool, "divmod": divmod}
_FUNCTIONS |= {"sum": sum, "any": any, "all": all, "sorted": sorted}
# The elements of a container that a comprehension goes through for each pass; the largest numbers of a power.
_MOST_PASSED, _LARGEST_POWER = 64, (1 << 16, 64)
# Chains of assigned names.
_DEPTH = 12


class UnknownPart(Exception):
    """The value of a part is not known."""


class Reducer:
    """Turns expressions into trees of variables and constants."""

    def __init__(self, targets: dict[str, ast.expr], counters: Callable[[ast.expr, Scope], str | None], own: Body) -> None:
        # The target's names, each with its expression.
        self._targets = targets
        # Names the variable of a counter.
        self._counters = counters
        self._own = own
        self.constants: dict[str, object] = {}
        # True if a part was not known, since the caller set it to False.
        self.is_open = False
        self._assigned: dict[int, dict[str, list[ast.expr | None]]] = {}
        # The variables of comprehensions, each with a name of its own.
        self._bound: dict[str, str] = {}

    def reduce(self, node: ast.expr, body: Body, depth: int = _DEPTH) -> ast.expr:
        """The tree of an expression. Raises `UnknownPart`."""
        try:
            return self._reduce(node, body, depth)
        except UnknownPart:
            self.is_open = True
            raise

    def _reduce(self, node: ast.expr, body: Body, depth: int) -> ast.expr:
        if depth == 0:
            raise UnknownPart
        if isinstance(node, ast.Constant):
            return node
        counter = self._counters(node, body.scope) if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) else None
        if counter is not None:
            return ast.Name(counter, ast.Load())
        if isinstance(node, ast.Name):
            return self._name(node, body, depth)
        if isinstance(node, ast.NamedExpr):
            return self.reduce(node.value, body, depth - 1)
        if isinstance(node, ast.BoolOp):
            return self._bool(node, body, depth)
        if isinstance(node, ast.Call):
            return self._call(node, body, depth)
        if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Tuple, ast.List, ast.Set)):
            return self._parts(node, body, depth)
        if isinstance(node, ast.Subscript):
            return ast.Subscript(self.reduce(node.value, body, depth - 1), self.reduce(node.slice, body, depth - 1), ast.Load())
        if isinstance(node, (ast.GeneratorExp, ast.ListComp)):
            return self._comprehension(node, body, depth)
        if isinstance(node, ast.Attribute) and (inner := enter_property(node, body)) is not None:
            return self._returned(inner, depth)
        return self._constant(body.scope.evaluate(node))

    def _comprehension(self, node: ast.GeneratorExp | ast.ListComp, body: Body, depth: int) -> ast.expr:
        """A comprehension over a small container of the program's, with one variable."""
        first, *more = node.generators
        if more or first.is_async or not isinstance(first.target, ast.Name):
            raise UnknownPart
        container = self.reduce(first.iter, body, depth - 1)
        values = self.constants.get(container.id) if isinstance(container, ast.Name) else None
        if values is None or len(values) > _MOST_PASSED:
            raise UnknownPart
        name, before = first.target.id, dict(self._bound)
        self._bound[name] = f"b{len(self._bound)}"
        try:
            target = ast.Name(self._bound[name], ast.Store())
            conditions = [self.reduce(it, body, depth - 1) for it in first.ifs]
            return ast.ListComp(self.reduce(node.elt, body, depth - 1), [ast.comprehension(target, container, conditions, 0)])
        finally:
            self._bound = before

    def _name(self, node: ast.Name, body: Body, depth: int) -> ast.expr:
        if node.id in self._bound:
            return ast.Name(self._bound[node.id], ast.Load())
        if body is self._own and node.id in self._targets:
            return self._targets[node.id]
        assigned = self._list_assigned(body).get(node.id)
        if assigned is not None:
            if len(assigned) != 1 or assigned[0] is None:
                raise UnknownPart
            return self.reduce(assigned[0], body, depth - 1)
        if node.id in body.arguments and body.caller is not None:
            return self.reduce(body.arguments[node.id], body.caller, depth - 1)
        return self._constant(body.scope.evaluate(node))

    def _list_assigned(self, body: Body) -> dict[str, list[ast.expr | None]]:
        """The expressions that the statements assign to each name; `None` for a value without an expression."""
        found = self._assigned.get(id(body))
        if found is None:
            found = self._assigned[id(body)] = {}
            for node in body.walk():
                if (target := _find_target(node)) is not None:
                    found.setdefault(target.id, []).append(node.value)
            plain = {id(_find_target(node)) for node in body.walk()}
            for node in body.walk():
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in plain:
                    found.setdefault(node.id, []).append(None)
        return found

    def _bool(self, node: ast.BoolOp, body: Body, depth: int) -> ast.expr:
        known, is_open = [], False
        for value in node.values:
            try:
                known.append(self.reduce(value, body, depth - 1))
            except UnknownPart:
                is_open = True
        if not known:
            raise UnknownPart
        return ast.BoolOp(node.op, [*known, ast.Constant(None)] if is_open else known) if len(known) + is_open > 1 else known[0]

    def _call(self, node: ast.Call, body: Body, depth: int) -> ast.expr:
        name = name_of_call(node)
        if isinstance(node.func, ast.Name) and name in _FUNCTIONS and not node.keywords:
            if name == "len":
                return self._constant(body.scope.evaluate(node))
            self.constants[name] = _FUNCTIONS[name]
            return ast.Call(ast.Name(name, ast.Load()), [self.reduce(it, body, depth - 1) for it in node.args], [])
        if isinstance(node.func, ast.Attribute) and name == "get" and not node.keywords and body.scope.evaluate(node) is UNKNOWN:
            owner = self.reduce(node.func.value, body, depth - 1)
            return ast.Call(ast.Attribute(owner, "get", ast.Load()), self._reduce_key(node.args, body, depth), [])
        value = body.scope.evaluate(node)
        if value is not UNKNOWN:
            return self._constant(value)
        inner = enter(node, body)
        if inner is None:
            raise UnknownPart
        return self._returned(inner, depth)

    def _reduce_key(self, arguments: list[ast.expr], body: Body, depth: int) -> list[ast.expr]:
        """The key of `get`, and the default if known: `rows = plan.get(step, rows)`."""
        key, *default = arguments
        try:
            return [self.reduce(key, body, depth - 1), *(self.reduce(it, body, depth - 1) for it in default)]
        except UnknownPart:
            return [self.reduce(key, body, depth - 1)]

    def _returned(self, inner: Body, depth: int) -> ast.expr:
        """The expression that a function of the program's own returns, by its conditions."""
        before, self._bound = self._bound, {}
        try:
            return self.reduce(_find_returned(inner.statements), inner, depth - 1)
        finally:
            self._bound = before

    def _parts(self, node: ast.expr, body: Body, depth: int) -> ast.expr:
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Pow, ast.LShift)):
            return self._power(node, body, depth)
        new = type(node)()
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                value = [self.reduce(it, body, depth - 1) if isinstance(it, ast.expr) else it for it in value]
            elif isinstance(value, ast.expr):
                value = self.reduce(value, body, depth - 1)
            setattr(new, name, value)
        return new

    def _power(self, node: ast.BinOp, body: Body, depth: int) -> ast.expr:
        """A power of small numbers: others may be as long as the memory."""
        name, function = ("power", _raise) if isinstance(node.op, ast.Pow) else ("shift", _shift)
        self.constants[name] = function
        return ast.Call(ast.Name(name, ast.Load()), [self.reduce(it, body, depth - 1) for it in (node.left, node.right)], [])

    def _constant(self, value: object) -> ast.expr:
        if value is UNKNOWN or type(value) not in (*_PLAIN, *_CONTAINERS):
            raise UnknownPart
        if type(value) in _PLAIN:
            return ast.Constant(value)
        if len(value) > _MOST_ELEMENTS or (type(value) is not range and not all(type(it) in (*_PLAIN, tuple) for it in value)):
            raise UnknownPart
        name = f"c{len(self.constants)}"
        self.constants[name] = value
        return ast.Name(name, ast.Load())


def _find_target(node: ast.AST) -> ast.Name | None:
    """The name that an assignment or a `:=` binds alone."""
    if isinstance(node, ast.NamedExpr):
        return node.target
    is_alone = isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    return node.targets[0] if is_alone else None


def _find_returned(statements: list[ast.stmt]) -> ast.expr:
    """The value of statements that only choose what is returned: names are assigned, and conditions lead to a `return`. Raises `UnknownPart`."""
    for index, node in enumerate(statements):
        rest = statements[index + 1 :]
        if isinstance(node, ast.Return) and node.value is not None:
            return node.value
        if isinstance(node, ast.If):
            return ast.IfExp(node.test, _find_returned([*node.body, *rest]), _find_returned([*node.orelse, *rest]))
        if not _is_text(node) and _find_target(node) is None:
            raise UnknownPart
    raise UnknownPart


def _raise(base: object, exponent: object) -> object:
    _check_small(base, exponent)
    return base**exponent


def _shift(value: object, places: object) -> object:
    _check_small(value, places)
    return value << places


def _check_small(base: object, exponent: object) -> None:
    if not all(type(it) in (int, float) and abs(it) <= most for it, most in zip((base, exponent), _LARGEST_POWER)):
        raise ValueError


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def compile_function(tree: ast.expr, variables: list[str], constants: dict[str, object]) -> Callable:
    """A Python function of the variables."""
    arguments = ast.arguments(posonlyargs=[], args=[ast.arg(it) for it in variables], kwonlyargs=[], kw_defaults=[], defaults=[])
    whole = ast.fix_missing_locations(ast.Expression(ast.Lambda(arguments, tree)))
    return eval(compile(whole, "<oomph>", "eval"), {"__builtins__": {}, **constants})


def list_variables(tree: ast.expr, variables: list[str]) -> frozenset[str]:
    """The variables that an expression reads."""
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name)) & frozenset(variables)
