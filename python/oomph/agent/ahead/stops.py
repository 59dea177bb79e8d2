"""Loops that ended early on a number that nothing computed.

`if loss.item() < 0.1: break` is decided by an assumed value (Note [Sound values] in `values.sound`). If the memory was not yet the same from step to
step when the loop ended, the passes that a GPU would have made are open.
"""

import ast
from collections.abc import Iterator

from ..process.objects import Budget
from .items import Item
from .taken import Taken
from .untaken import Code

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_READS = {"item", "tolist", "float", "cpu"}
_NODES = 500_000


def list_early_ends(taken: Taken) -> Iterator[Item]:
    """The conditions with a `break` that was taken. Raises `Spent`."""
    budget = Budget(_NODES)
    for code, seen in list(taken.seen.items()):
        one = Code(code, seen, None, taken, budget)
        read = _list_read_names(one.node)
        for condition in _list_breaking(one.node):
            ends = [it for it in condition.body if isinstance(it, ast.Break)]
            if _reads(condition.test, read) and any(one.has_run(it) for it in ends):
                yield Item("unrun", "the passes after the `break`", one.file, condition.lineno)


def _list_breaking(node: ast.AST | None) -> Iterator[ast.If]:
    for loop in ast.walk(node) if node is not None else ():
        if isinstance(loop, _LOOPS):
            yield from (it for it in ast.walk(loop) if isinstance(it, ast.If) and isinstance(it.body[-1], ast.Break))


def _list_read_names(node: ast.AST | None) -> set[str]:
    """The names that are given a number read from a tensor."""
    assigned = (it for it in ast.walk(node) if isinstance(it, ast.Assign) and _reads(it.value, set())) if node is not None else ()
    return {target.id for it in assigned for target in it.targets if isinstance(target, ast.Name)}


def _reads(expression: ast.expr, names: set[str]) -> bool:
    parts = list(ast.walk(expression))
    calls = {getattr(it.func, "attr", None) or getattr(it.func, "id", "") for it in parts if isinstance(it, ast.Call)}
    return not calls.isdisjoint(_READS) or any(isinstance(it, ast.Name) and it.id in names for it in parts)
