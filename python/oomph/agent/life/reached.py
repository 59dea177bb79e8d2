"""The code of a loop: the body, and the program's own functions called from the body."""

import ast
import functools
import types
from collections.abc import Iterator
from dataclasses import dataclass, field

import torch

from ..process import objects
from ..process.objects import Budget
from ..source import trees
from ..source.flow import LOOPS, walk_own
from ..source.functions import find_called, function_of, list_methods
from ..source.scope import UNKNOWN, Scope

# Functions below each other.
_DEPTH = 4
_MOST_BODIES = 60
# The objects of a list whose methods are called.
_MOST_OBJECTS = 16


@dataclass
class Body:
    """The statements of a loop or of a function, with the names of parameters that stand for expressions of the caller."""

    statements: list[ast.stmt]
    scope: Scope
    caller: "Body | None" = None
    arguments: dict[str, ast.expr] = field(default_factory=dict)
    # True if a loop inside the loop calls the function.
    is_nested: bool = False
    # The identity of a method's object.
    owner: int = 0
    file: str = ""

    @functools.cached_property
    def loops(self) -> list[ast.For | ast.While]:
        """The loops among the statements, and inside."""
        return [it for it in self.walk() if isinstance(it, LOOPS)]

    def is_looped(self, node: ast.AST) -> bool:
        """True if a loop among the statements runs the node."""
        return any(_is_inside(node, it) for it in self.loops)

    def walk(self) -> Iterator[ast.AST]:
        """All nodes but those of inner functions."""
        for statement in self.statements:
            yield from walk_own(statement)


def list_bodies(statements: list[ast.stmt], file: str, scope: Scope, budget: Budget) -> list[Body]:
    """The body of a loop and the bodies of called functions, each once. Raises `Spent`."""
    found, met = [Body(statements, scope, file=file)], set()
    waiting = [(found[0], 0)]
    while waiting and len(found) < _MOST_BODIES:
        body, depth = waiting.pop(0)
        for node in body.walk() if depth < _DEPTH else ():
            budget.spend()
            for inner in _list_entered(node, body):
                if (id(inner.statements), inner.owner) not in met:
                    met.add((id(inner.statements), inner.owner))
                    found.append(inner)
                    waiting.append((inner, depth + 1))
    return found


def _list_entered(node: ast.AST, body: Body) -> Iterator[Body]:
    """The functions, properties and methods that a node runs."""
    if isinstance(node, ast.Call):
        yield from _enter_all(node, body)
    for inner in _enter_unnamed(node, body):
        inner.is_nested = body.is_nested or body.is_looped(node)
        yield inner


def _enter_unnamed(node: ast.AST, body: Body) -> Iterator[Body]:
    """The bodies of the program's own code that a node runs without a call of it."""
    if isinstance(node, ast.Call):
        yield from _enter_backward(node, body)
        yield from _enter_schedule(node, body)
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and (inner := enter_property(node, body)) is not None:
        yield inner
    yield from enter_methods(node, body)


def _enter_all(node: ast.Call, body: Body) -> Iterator[Body]:
    """The functions of a call; several in a loop over the program's objects, as over callbacks."""
    around = [it for it in body.loops if _is_inside(node, it)]
    named = next((it for it in around if isinstance(it, ast.For) and isinstance(it.target, ast.Name) and reads(node.func, it.target.id)), None)
    values = _find_values(named.iter, body.scope) if named is not None else None
    if type(values) not in (list, tuple):
        inner = enter(node, body)
        if inner is not None:
            inner.is_nested = body.is_nested or bool(around)
            yield inner
        return
    for value in values[:_MOST_OBJECTS]:
        body.scope.set(named.target.id, value)
        inner = enter(node, body)
        if inner is not None:
            inner.is_nested = body.is_nested
            yield inner
    body.scope.set(named.target.id, UNKNOWN)


def _find_values(node: ast.expr, scope: Scope) -> object:
    """The objects of a loop: those of a list, or of a list in a dict, as of callbacks by event."""
    found = scope.evaluate(node)
    if found is not UNKNOWN or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "get" or not node.args:
        return found
    owner, key = scope.evaluate(node.func.value), scope.evaluate(node.args[0])
    return dict.get(owner, key) if isinstance(owner, dict) and type(key) is str else UNKNOWN


def reads(node: ast.AST, name: str) -> bool:
    """True if an expression reads the name."""
    return any(isinstance(it, ast.Name) and it.id == name for it in ast.walk(node))


def _is_inside(node: ast.AST, loop: ast.For | ast.While) -> bool:
    return node is not loop and loop.lineno < getattr(node, "lineno", 0) <= (loop.end_lineno or 0)


def enter(node: ast.Call, body: Body) -> Body | None:
    """The body of the program's own function that a call runs."""
    made = find_called(node, body.scope)
    return None if made is None else _enter_function(*made, node, body)


def enter_property(node: ast.Attribute, body: Body) -> Body | None:
    """The body of the program's own property that an attribute reads."""
    owner = body.scope.evaluate(node.value)
    found = None if owner is UNKNOWN else objects.find_in_class(owner, node.attr)
    function = function_of(found.fget) if type(found) is property else None
    return None if function is None else _enter_function(function, (owner,), ast.Call(node, [], []), body)


def enter_methods(node: ast.AST, body: Body) -> Iterator[Body]:
    """The bodies of the program's own methods that an operator, an index or a condition runs."""
    for operand, name, arguments in list_methods(node):
        # A result of other operators is a number or a tensor, as a rule.
        owner = body.scope.evaluate(operand) if isinstance(operand, (ast.Name, ast.Attribute)) else UNKNOWN
        function = None if owner is UNKNOWN else function_of(objects.find_in_class(owner, name))
        inner = None if function is None else _enter_function(function, (owner,), ast.Call(operand, arguments, []), body)
        if inner is not None:
            yield inner


def _enter_backward(node: ast.Call, body: Body) -> Iterator[Body]:
    """The body of the backward of the program's own function of autograd, where the function is applied."""
    kind = body.scope.evaluate(node.func.value) if isinstance(node.func, ast.Attribute) and node.func.attr == "apply" else UNKNOWN
    found = objects.find_in_bases(kind, "backward") if objects.is_a(kind, type) and issubclass(kind, torch.autograd.Function) else None
    function = function_of(found.__func__ if type(found) is staticmethod else found)
    inner = None if function is None else _enter_function(function, (), ast.Call(node.func, [], []), body)
    if inner is not None:
        yield inner


def _enter_schedule(node: ast.Call, body: Body) -> Iterator[Body]:
    """The bodies of the program's own functions that the step of a schedule calls: `get_lr`, and factors of the epoch."""
    owner = body.scope.evaluate(node.func.value) if isinstance(node.func, ast.Attribute) and node.func.attr == "step" else UNKNOWN
    if not objects.is_a(owner, torch.optim.lr_scheduler.LRScheduler):
        return
    epoch = ast.Attribute(node.func.value, "last_epoch", ast.Load(), lineno=node.lineno)
    factors = ((function_of(it), (), [epoch]) for it in objects.list_items(objects.list_own(owner).get("lr_lambdas"), _MOST_OBJECTS))
    for function, bound, arguments in ((function_of(objects.find_in_class(owner, "get_lr")), (owner,), []), *factors):
        inner = None if function is None else _enter_function(function, bound, ast.Call(node.func, arguments, []), body)
        if inner is not None:
            yield inner


def _enter_function(function: types.FunctionType, bound: tuple, node: ast.Call, body: Body) -> Body | None:
    definition = trees.find_definition(function.__code__, function.__globals__)
    if definition is None or isinstance(definition, ast.Lambda):
        return None
    names = [it.arg for it in (*definition.args.posonlyargs, *definition.args.args)]
    defaults = function.__defaults__ or ()
    known: dict[str, object] = {**dict(zip(names[len(names) - len(defaults) :], defaults)), **(function.__kwdefaults__ or {}), **dict(zip(names, bound))}
    given = dict(zip(names[len(bound) :], (it for it in node.args if not isinstance(it, ast.Starred))))
    given.update({it.arg: it.value for it in node.keywords if it.arg})
    for name, argument in given.items():
        value = body.scope.evaluate(argument)
        if value is UNKNOWN:
            known.pop(name, None)
        else:
            known[name] = value
    return Body(definition.body, body.scope.of_call(function, known), body, given, owner=id(bound[0]) if bound else 0, file=function.__code__.co_filename)
