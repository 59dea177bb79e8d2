"""Lists the branches of the program's own code that the loop can reach and that did not run (Note [Taken] in `taken`).

Such a branch is open if it may allocate: with a call that is not harmless, by name or hidden in a property, an operator, a subscript, a `with`, an
f-string or an import, or with an assignment of a larger number, or a larger tensor, than the name has now. The statements before the loops of a
running function do not run again, nor do functions that were called before the loop only.
"""

import ast
import dis
from collections.abc import Iterator
from types import CodeType, FrameType

from ..process import frames
from ..process.objects import Budget, Spent
from ..source.flow import LOOPS
from ..source.spans import Span, as_span, is_within, span_of
from .called import list_backwards
from .function import Function
from .items import Ahead, Item
from .taken import Taken
from .unnoted import list_counted, list_exits

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# The most nodes that a look visits.
_NODES = 500_000


def correct(ahead: Ahead, taken: Taken, frame: FrameType | None) -> None:
    """Corrects the items of sources by the notes: a call that ran is not ahead, whatever its condition, and a branch that did not run is."""
    ahead.items[:] = [it for it in ahead.items if it.reason != "unrun" or not _has_run(taken, it)]
    try:
        for item in _list_untaken(taken, frame, Budget(_NODES)):
            ahead.add(item)
    except Spent:
        if frame is not None:
            ahead.leave_out(frame)


def _has_run(taken: Taken, item: Item) -> bool:
    """True if all calls of a line ran."""
    codes = [(code, seen) for code, seen in taken.seen.items() if code.co_filename == item.file]
    calls = [it.offset in seen for code, seen in codes for it in dis.get_instructions(code) if _is_call_at(it, item.line)]
    return bool(calls) and all(calls)


def _is_call_at(instruction: dis.Instruction, line: int) -> bool:
    return instruction.positions.lineno == line and instruction.opname.startswith("CALL")


def _list_untaken(taken: Taken, frame: FrameType | None, budget: Budget) -> Iterator[Item]:
    """The open parts, each with its line. Raises `Spent`."""
    running = {it.f_code: it for it in frames.list_running(frame) if frames.is_users(it.f_code.co_filename)}
    for code, seen in list(taken.seen.items()):
        if code in taken.entered or code in running:
            # A function that was called before the loop only goes on in its loops, or behind the running statement.
            is_bound = code not in taken.entered
            yield from _Noted(Function.of_code(code, running.get(code), budget), code, seen).list_items(is_bound)
    for code in list_backwards():
        if code not in taken.seen:
            yield from list_counted(Function.of_code(code, None, budget))
    for code, one in running.items():
        yield from list_exits(Function.of_code(code, one, budget))


class _Noted:
    """A function, with the places of its instructions and of those that ran."""

    def __init__(self, function: Function, code: CodeType, seen: set[int]) -> None:
        self._function = function
        self._all: list[Span] = []
        self._ran: list[Span] = []
        for instruction in dis.get_instructions(code):
            span = as_span(instruction.positions)
            if span is not None:
                self._all.append(span)
                if instruction.offset in seen:
                    self._ran.append(span)

    def list_items(self, is_bound: bool) -> Iterator[Item]:
        """The items of the parts that did not run; `is_bound`: of the running call alone."""
        node = self._function.node
        if node is None:
            return
        for part in self._list_open(node.body if isinstance(node.body, list) else [node.body]):
            if not is_bound or self._comes(part):
                yield from self._function.judge(part)

    def _comes(self, part: ast.AST) -> bool:
        """True if the running call may still reach a part."""
        loops = [node for node in self._function.list_around() if isinstance(node, LOOPS)]
        is_later = self._function.frame is not None and part.lineno > self._function.frame.f_lineno
        return is_later or any(part in ast.walk(loop) for loop in loops)

    def _list_open(self, block: list[ast.AST]) -> Iterator[ast.AST]:
        """The outermost parts that did not run."""
        for node in block:
            self._function.budget.spend()
            if isinstance(node, _SCOPES):
                continue
            # A `pass`, a constant or a block has no instruction.
            if not _has(node, self._all) or _has(node, self._ran):
                yield from self._list_open(list(_children(node)))
            else:
                yield node


def _has(node: ast.AST, spans: list[Span]) -> bool:
    outer = span_of(node) if hasattr(node, "lineno") else None
    return outer is not None and any(is_within(span, outer) for span in spans)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node with a place in the source."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.expr, ast.stmt, ast.ExceptHandler, ast.match_case, ast.withitem, ast.keyword, ast.comprehension)):
            yield child
