"""Loops that may have ended early, and branches that may not have run, on a number that nothing computed.

An assumed value decides `if loss.item() < 0.1: break` (Note [Sound values] in `values.sound`). If the memory still rose from step to step when the
program ended, the passes of a GPU are open.

A scheduler with patience makes a learning rate of such a number. Assumed losses fall for ever, so a branch on a lower rate is open in a
program that ran to its end.
"""

import ast
from collections.abc import Iterable, Iterator

from ..process.objects import Budget, Spent
from ..source import trees
from ..source.flow import LOOPS
from ..source.names import name_of_call
from .function import Function
from .items import Item

_READS = {"item", "tolist", "float", "cpu"}
# Names that tell of a learning rate, or of the passes without progress.
_RATES = {"lr", "get_last_lr", "num_bad_epochs", "_last_lr"}
# The most nodes that the branches of all files have together.
_NODES = 100_000


def list_early_ends(files: Iterable[str]) -> Iterator[Item]:
    """The conditions with a `break` that read a number of the device."""
    for file in files:
        nodes = list(trees.walk(file))
        read = _list_read_names(nodes)
        for condition in _list_breaking(nodes):
            if _reads(condition.test, read):
                yield Item("unrun", "the passes after the `break`", file, condition.lineno)


def list_behind_plateaus(files: Iterable[str]) -> Iterator[Item]:
    """The parts that may allocate, of branches on a learning rate, in files with a scheduler of plateaus."""
    budget = Budget(_NODES)
    for file in files:
        nodes = list(trees.walk(file))
        if not any(map(_names_plateau, nodes)):
            continue
        module = Function.of_module(file, budget)
        branches = (it for it in nodes if isinstance(it, ast.If) and _tells_rate(it.test))
        try:
            yield from (item for branch in branches for part in branch.body for item in module.judge(part))
        except Spent:
            return


def _names_plateau(node: ast.AST) -> bool:
    return "ReduceLROnPlateau" in (getattr(node, "attr", ""), getattr(node, "id", ""), getattr(node, "name", ""))


def _tells_rate(test: ast.expr) -> bool:
    """True for `scheduler.get_last_lr()[0] < 1e-4` and `group["lr"] < 0.5`."""
    return any(not _RATES.isdisjoint((getattr(it, "attr", None), getattr(it, "id", None), _text_of(it))) for it in ast.walk(test))


def _text_of(node: ast.AST) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _list_breaking(nodes: list[ast.AST]) -> Iterator[ast.If]:
    for loop in nodes:
        if isinstance(loop, LOOPS):
            yield from (it for it in ast.walk(loop) if isinstance(it, ast.If) and isinstance(it.body[-1], ast.Break))


def _list_read_names(nodes: list[ast.AST]) -> set[str]:
    """The names of numbers that were read from a tensor."""
    assigned = (it for it in nodes if isinstance(it, ast.Assign) and _reads(it.value, set()))
    names = {target.id for it in assigned for target in it.targets if isinstance(target, ast.Name)}
    return names | {it.func.value.id for it in nodes if _is_collected(it)}


def _is_collected(node: ast.AST) -> bool:
    """True for `losses.append(loss.item())`."""
    is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)
    return is_method and node.func.attr == "append" and any(_reads(argument, set()) for argument in node.args)


def _reads(expression: ast.expr, names: set[str]) -> bool:
    parts = list(ast.walk(expression))
    return not _READS.isdisjoint(map(name_of_call, parts)) or any(isinstance(it, ast.Name) and it.id in names for it in parts)
