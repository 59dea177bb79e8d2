"""What sources alone show of code that no note of instructions covers: before Python 3.12, in other threads, and at the end of a `with`.

A condition is not known here, so only three kinds of code are named: code that runs without a call in sight, in the running loops and behind them; calls under a
condition on a counter, in a function that PyTorch calls; and the end of a `with` that is entered. Lines that allocated are left out by the reader of
the records.
"""

import ast
import contextlib
from collections.abc import Collection, Iterable, Iterator
from types import FrameType

import torch

from ..process import frames
from ..process.objects import Budget, Spent
from ..source.flow import LOOPS, WITHS, walk_own
from .called import find_end, list_backwards, list_behind_yield, list_conditional, list_forwards, list_hooks, list_schedules
from .function import Function
from .harmless import find_definition, is_harmless, name_of
from .items import Ahead, Item

# The most nodes that a look visits.
_NODES = 500_000
# `LRScheduler.step` counts in these (torch/optim/lr_scheduler.py, 2.11).
_COUNTED_BY_SCHEDULES = ("self.last_epoch", "self._step_count")


def add_unnoted(ahead: Ahead, frame: FrameType | None, optimizers: Iterable[torch.optim.Optimizer]) -> None:
    """Adds the items of the running functions, and of the functions that PyTorch calls."""
    budget = Budget(_NODES)
    try:
        for one in frames.list_running(frame):
            if frames.is_users(one.f_code.co_filename):
                function = Function.of_code(one.f_code, one, budget)
                for item in (*list_exits(function), *_list_hidden(function)):
                    ahead.add(item)
        for item in _list_called(optimizers, budget):
            ahead.add(item)
    except Spent:
        if frame is not None:
            ahead.leave_out(frame)


def list_called(optimizers: Iterable[torch.optim.Optimizer]) -> list[Item]:
    """The items of functions called by PyTorch, where loops are shortened and a late call may differ."""
    found: list[Item] = []
    with contextlib.suppress(Spent):
        found.extend(_list_called(optimizers, Budget(_NODES)))
    return found


def _list_called(optimizers: Iterable[torch.optim.Optimizer], budget: Budget) -> Iterator[Item]:
    for code in (*list_backwards(), *list_forwards(), *list_hooks(optimizers)):
        yield from list_counted(Function.of_code(code, None, budget))
    for code in list_schedules():
        yield from list_counted(Function.of_code(code, None, budget), _COUNTED_BY_SCHEDULES)


def list_exits(function: Function) -> Iterator[Item]:
    """The items of the ends of `with` statements that are entered."""
    for node in function.list_around():
        for item in node.items if isinstance(node, WITHS) else ():
            found = find_end(item.context_expr, function.scope)
            definition = None if found is None else find_definition(found)
            scope = None if definition is None else function.scope.of_call(found, {})
            for part in (part for statement in list_behind_yield(definition) for part in walk_own(statement)) if definition is not None else ():
                if isinstance(part, ast.Call) and not is_harmless(part, scope):
                    yield Item("unrun", name_of(part), found.__code__.co_filename, part.lineno)


def _list_hidden(function: Function) -> Iterator[Item]:
    """The items of later parts, and of conditional parts of the running loops, that run code without a call in sight."""
    if function.node is None:
        return
    later = [it for it in walk_own(function.node, is_whole=True) if isinstance(it, ast.stmt) and it.lineno > function.frame.f_lineno]
    loops = [node for node in function.list_around() if isinstance(node, LOOPS)]
    conditional = [part for loop in loops for node in ast.walk(loop) for part in list_conditional(node)]
    for part in (*later, *conditional):
        for node in walk_own(part):
            function.budget.spend()
            name = function.name_of_hidden(node)
            if name is not None:
                yield Item("unrun", name, function.file, node.lineno)


def list_counted(function: Function, known: Collection[str] = ()) -> Iterator[Item]:
    """The items of parts under a condition on a counter of the function, or on one of the `known`."""
    nodes = list(ast.walk(function.node)) if function.node is not None else []
    counters = {*known, *(ast.unparse(it.target) for it in nodes if isinstance(it, ast.AugAssign))}
    for node in nodes if counters else ():
        if isinstance(node, ast.If) and counters & {ast.unparse(it) for it in ast.walk(node.test) if isinstance(it, ast.expr)}:
            for part in node.body:
                yield from function.judge(part)
