"""Sizes that the program draws by lot: passes that repeat do not show the largest.

Note [Lots]
~~~~~~~~~~~
`size = random.choice((32, 64))` draws anew in each pass, and passes that happen to be alike prove nothing. The drawn number is followed through
the source of the loop (`source.number_flow`). Data drawn by lot has no such effect: a kind of pass, an index, the place of a crop.
"""

import ast
import random
import sys
import types
from collections.abc import Iterator

from torch.utils.data import DataLoader

from ..process import objects
from ..process.objects import Budget
from ..source import trees
from ..source.flow import FUNCTIONS
from ..source.functions import function_of
from ..source.names import name_of_call
from ..source.number_flow import NumberFlow
from ..source.scope import UNKNOWN, Scope
from ..source.spans import find_path
from .reached import Body
from .rewriting import Loop

# The draws of whole numbers and of others; `choice` draws an element of its argument.
_WHOLE = {"randint", "randrange", "getrandbits", "integers"}
_FRACTIONS = {"random", "uniform", "gauss", "normal", "normalvariate", "expovariate", "betavariate", "triangular", "rand", "poisson", "beta", "exponential", "geometric"}
# The arguments with which a function of NumPy draws many numbers.
_FEW = {"randint": 2, "integers": 2, "uniform": 2, "normal": 2, "random": 0, "rand": 0}
# The elements of a choice that are read.
_ELEMENTS = 4096
_CALLERS = 4
# The data sets around each other.
_DATASETS = 8


def draws_sizes(loop: Loop, bodies: list[Body], loader: DataLoader | None, budget: Budget) -> bool:
    """True if a number that the loop's code draws by lot may become a size. Raises `Spent`."""
    if any(_draws_size(body, loop, budget) for body in bodies):
        return True
    return any(_draws_size(body, loop, budget) for body in _list_data(loader))


def _draws_size(body: Body, loop: Loop, budget: Budget) -> bool:
    for node in body.walk():
        budget.spend()
        drawn = _find_draw(node, body.scope) if isinstance(node, ast.Call) else None
        if drawn is not None and _follow(node, drawn, body, loop, budget):
            return True
    return False


def _follow(node: ast.Call, is_whole: bool, body: Body, loop: Loop, budget: Budget) -> bool:
    flow = NumberFlow(_find_path(body, loop), body.scope, budget, is_drawn=True)
    found = flow.follow_call(node, is_whole)
    caller = body.caller
    for _ in range(_CALLERS):
        if found is not None or caller is None:
            break
        name, is_whole = getattr(flow.scope, "name", ""), flow.returns_whole
        flow = NumberFlow(_find_path(caller, loop), caller.scope, budget, is_drawn=True)
        found, caller = flow.follow_calls({name}, is_whole), caller.caller
    # A number that a data set returns is data of a batch.
    return bool(found)


def _find_path(body: Body, loop: Loop) -> list[ast.AST]:
    """The nodes from the module to the function of a body, or to the loop."""
    module = trees.parse(body.file or loop.file)
    line = body.statements[0].lineno
    path = find_path(module, line) if module is not None else []
    at = max((index for index, it in enumerate(path) if isinstance(it, FUNCTIONS)), default=0)
    return path[: at + 1] or body.statements


def _find_draw(node: ast.Call, scope: Scope) -> bool | None:
    """True for a draw of a whole number, False for one of a fraction; `None` for all else."""
    name = name_of_call(node)
    is_known = name in _WHOLE or name in _FRACTIONS or name == "choice"
    if not is_known or not _is_random(node, scope):
        return None
    if name == "choice":
        return _has_numbers(node, scope)
    if any(it.arg in ("size", "shape") for it in node.keywords) or len(node.args) > _FEW.get(name, len(node.args)):
        return None
    return name in _WHOLE


def _is_random(node: ast.Call, scope: Scope) -> bool:
    """True for a function of `random` or `numpy.random`, or a method of a generator of theirs."""
    if isinstance(node.func, ast.Attribute):
        owner = scope.evaluate(node.func.value)
    else:
        # `from random import choice` is a method of a hidden `Random`.
        owner = getattr(scope.evaluate(node.func), "__self__", None)
    numpy = sys.modules.get("numpy.random")
    if owner is random or (numpy is not None and owner is numpy):
        return True
    return type(owner) is random.Random or (numpy is not None and type(owner) in (numpy.RandomState, numpy.Generator))


def _has_numbers(node: ast.Call, scope: Scope) -> bool | None:
    """True if `choice` draws from whole numbers, or from tuples of these."""
    if len(node.args) != 1:
        return None
    values = scope.evaluate(node.args[0])
    if values is UNKNOWN:
        values = [it.value for it in ast.walk(node.args[0]) if isinstance(it, ast.Constant)]
    if type(values) not in (list, tuple, range):
        return None
    flat = [part for it in values[:_ELEMENTS] for part in (it if type(it) is tuple else (it,))]
    return True if all(type(it) is int for it in flat) and len(set(flat)) > 1 else None


def _list_data(loader: DataLoader | None) -> Iterator[Body]:
    """The program's own functions that make the batches of a loader."""
    if loader is None:
        return
    dataset: object = loader.dataset
    for _ in range(_DATASETS):
        for name in ("__getitem__", "__getitems__", "__iter__"):
            yield from _enter(objects.find_in_class(dataset, name), dataset)
        dataset = objects.list_own(dataset).get("dataset")
        if dataset is None:
            break
    yield from _enter(loader.collate_fn, None)


def _enter(found: object, owner: object) -> Iterator[Body]:
    function = function_of(found)
    definition = None if function is None else trees.find_definition(function.__code__, function.__globals__)
    if isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)) and isinstance(function, types.FunctionType):
        first = definition.args.args[0].arg if definition.args.args else ""
        known = {first: owner} if owner is not None and first else {}
        scope = Scope.of_module(function.__globals__).of_call(function, known)
        yield Body(definition.body, scope, file=function.__code__.co_filename)
