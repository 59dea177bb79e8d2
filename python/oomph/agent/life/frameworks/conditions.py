"""The steps at which a program's own callbacks, and its classes derived from a library's, do something else: `state.global_step % 500 == 0`."""

import ast
import sys
from collections.abc import Iterable, Iterator

from ...process import frames, objects
from ...source import trees
from .due import Due

# The most conditions of a program.
_MOST = 16


def list_conditions(owners: Iterable[object], counters: dict[str, int]) -> dict[str, Due]:
    """What comes due by conditions on counters in the classes of some objects.

    `counters`: the names of the counters, with what one of their units is in batches of a step: 1 for steps.
    """
    found: dict[str, Due] = {}
    for owner in owners:
        for node in _list_nodes(type(owner)):
            for due in _read(node, owner, counters):
                if len(found) < _MOST:
                    found.setdefault(f"{ast.unparse(node)} {due.every}", due)
    return found


def _list_nodes(kind: type) -> Iterator[ast.AST]:
    """The nodes of the program's own classes among a class and its bases."""
    for each in kind.__mro__:
        file = getattr(sys.modules.get(each.__module__), "__file__", None)
        if file is None or not frames.is_users(file):
            continue
        for node in trees.walk(file):
            if isinstance(node, ast.ClassDef) and node.name == each.__name__:
                yield from ast.walk(node)


def _read(node: ast.AST, owner: object, counters: dict[str, int]) -> Iterator[Due]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        unit, every = _find_unit(node.left, counters), _evaluate(node.right, owner)
        if unit and every:
            yield Due(-(-every // unit))
    elif isinstance(node, ast.Compare) and len(node.comparators) == 1:
        unit, step = _find_unit(node.left, counters), _evaluate(node.comparators[0], owner)
        if unit and step and not isinstance(node.left, ast.BinOp):
            for each in (step // unit, step // unit + 1):
                yield Due(each, first=each, least=1)


def _find_unit(node: ast.AST, counters: dict[str, int]) -> int | None:
    names = {it.attr if isinstance(it, ast.Attribute) else it.id for it in ast.walk(node) if isinstance(it, (ast.Attribute, ast.Name))}
    return next((unit for name, unit in counters.items() if name in names), None)


def _evaluate(node: ast.AST, owner: object) -> int | None:
    """A number in the code, or an attribute of the object itself; `None` for others, and for those below 1."""
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        value = objects.read(owner, node.attr)
    return value if type(value) is int and value > 0 else None
