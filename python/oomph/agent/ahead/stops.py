"""Loops that may have ended early on a number that nothing computed.

`if loss.item() < 0.1: break` is decided by an assumed value (Note [Sound values] in `values.sound`). If the memory was not yet the same from step to
step when the program ended, the passes that a GPU would have made are open.
"""

import ast
from collections.abc import Iterable, Iterator

from ..process import syntax
from .items import Item

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_READS = {"item", "tolist", "float", "cpu"}


def list_early_ends(files: Iterable[str]) -> Iterator[Item]:
    """The conditions with a `break` that read a number of the device."""
    for file in files:
        tree = syntax.parse(file)
        if tree is not None:
            read = _list_read_names(tree)
            for condition in _list_breaking(tree):
                if _reads(condition.test, read):
                    yield Item("unrun", "the passes after the `break`", file, condition.lineno)


def _list_breaking(tree: ast.Module) -> Iterator[ast.If]:
    for loop in ast.walk(tree):
        if isinstance(loop, _LOOPS):
            yield from (it for it in ast.walk(loop) if isinstance(it, ast.If) and isinstance(it.body[-1], ast.Break))


def _list_read_names(tree: ast.Module) -> set[str]:
    """The names of numbers that were read from a tensor."""
    nodes = list(ast.walk(tree))
    assigned = (it for it in nodes if isinstance(it, ast.Assign) and _reads(it.value, set()))
    names = {target.id for it in assigned for target in it.targets if isinstance(target, ast.Name)}
    return names | {it.func.value.id for it in nodes if _is_collected(it)}


def _is_collected(node: ast.AST) -> bool:
    """True for `losses.append(loss.item())`."""
    is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)
    return is_method and node.func.attr == "append" and any(_reads(argument, set()) for argument in node.args)


def _reads(expression: ast.expr, names: set[str]) -> bool:
    parts = list(ast.walk(expression))
    calls = {getattr(it.func, "attr", None) or getattr(it.func, "id", "") for it in parts if isinstance(it, ast.Call)}
    return not calls.isdisjoint(_READS) or any(isinstance(it, ast.Name) and it.id in names for it in parts)
