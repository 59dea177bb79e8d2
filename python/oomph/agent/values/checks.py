"""Answers with which the program's own checks pass.

Note [Checks pass]
~~~~~~~~~~~~~~~~~~
`assert x.min() >= 0 and x.max() < n` reads two booleans that nothing computed. A program that got as far as using a GPU passes its own
checks. So a read in the condition of an `assert`, or of an `if` with one branch that ends in `raise` or `exit`, returns the value that
avoids the error. `isfinite(loss)` is true in any condition: programs skip the step otherwise.

The position of the instruction tells the operand: from Python 3.12 on the position is the operand's own, in 3.11 the whole statement's, in
3.10 the line's (a call such as `.item()` may stand anywhere in the line, and is not answered). If the operands at that position need
different answers, the memory is read.
"""

import ast
import dis
import functools
import re
from collections.abc import Iterator
from types import FrameType
from typing import NamedTuple

from ..failure import guarded
from ..source import trees
from ..source.flow import SCOPES, walk_own
from ..source.spans import Span, find_instruction, is_within, span_of

_FAR = 1 << 30
_FINITE = re.compile(r"^[\w.]*\bisfinite\([^()]*\)(\.item\(\))?$")
_CHECKS = (ast.Assert, ast.While, ast.If)
_EXITS = ("exit", "quit", "sys.exit", "os._exit")


class _Operand(NamedTuple):
    """A part of a check's condition that is read by itself."""

    span: Span
    # Of the whole condition, and of the statement.
    condition: Span
    statement: Span
    # The answer that passes the check; `None` if the program goes on either way.
    answer: bool | None

    def is_read_at(self, read: Span) -> bool:
        """True if an instruction at `read` may read the operand."""
        is_of_check = read == self.statement or is_within(read, self.condition) or read[1][1] == _FAR
        return is_of_check and is_within(self.span, read)


@guarded
def passing_answer(frame: FrameType) -> bool | None:
    """The boolean with which the program goes on, for the read that `frame` makes now; `None` outside of checks."""
    read = _span_of_instruction(frame)
    return read and _answer(frame.f_code.co_filename, read)


@guarded
def is_in_condition(frame: FrameType) -> bool:
    """True if the read that `frame` makes now is part of a condition that must come true: of an `assert`, of a `while`, or of an `if` with
    a branch that ends in an error; or if the read is assigned to a variable that such a condition of the same function contains.
    """
    return _is_part_of(frame, _CHECKS)


@guarded
def is_in_loop(frame: FrameType) -> bool:
    """As `is_in_condition`, for the condition of a `while` only."""
    return _is_part_of(frame, (ast.While,))


def _is_part_of(frame: FrameType, kinds: tuple[type, ...]) -> bool:
    read = _span_of_instruction(frame)
    return read is not None and any(is_within(read, span) for span in _conditions(frame.f_code.co_filename, kinds))


@functools.lru_cache(maxsize=64)
def _conditions(file: str, kinds: tuple[type, ...]) -> tuple[Span, ...]:
    """The spans of conditions of these statements, and of the expressions that are assigned to their variables."""
    return tuple(span_of(part) for scope in trees.walk(file) if isinstance(scope, (ast.Module, *SCOPES)) for part in _deciding(scope, kinds))


def _deciding(scope: ast.AST, kinds: tuple[type, ...]) -> Iterator[ast.expr]:
    """The conditions of one function, and the expressions that are assigned to their variables."""
    inside = list(walk_own(scope, is_whole=True))
    tests = [it.test for it in inside if isinstance(it, kinds) and (not isinstance(it, ast.If) or _passes(it) is not None)]
    names = {it.id for test in tests for it in ast.walk(test) if isinstance(it, ast.Name)}
    yield from tests
    for node in inside:
        if isinstance(node, ast.Assign) and any(isinstance(it, ast.Name) and it.id in names for it in node.targets):
            yield node.value


@functools.lru_cache(maxsize=4096)
def _answer(file: str, read: Span) -> bool | None:
    answers = {operand.answer for operand in _operands(file) if operand.is_read_at(read)}
    return answers.pop() if len(answers) == 1 else None


def _span_of_instruction(frame: FrameType) -> Span | None:
    """The position of the current instruction of `frame`; `None` for a call if only the line is known."""
    code = frame.f_code
    if hasattr(code, "co_positions"):
        return find_instruction(frame)
    is_call = dis.opname[code.co_code[frame.f_lasti]].startswith("CALL")
    return None if is_call else ((frame.f_lineno, 0), (frame.f_lineno, _FAR))


@functools.lru_cache(maxsize=64)
def _operands(file: str) -> tuple[_Operand, ...]:
    """The operands of all checks in a file."""
    return tuple(operand for node in trees.walk(file) for operand in _operands_of(node))


def _operands_of(node: ast.AST) -> Iterator[_Operand]:
    if not isinstance(node, _CHECKS):
        return
    parts = list(_parts(node.test, _passes(node)))
    if any(answer is not None for _, answer in parts):
        for part, answer in parts:
            yield _Operand(span_of(part), span_of(node.test), span_of(node), answer)


def _passes(node: ast.Assert | ast.If | ast.While) -> bool | None:
    """The value of the condition with which no error follows; `None` if either value will do."""
    if isinstance(node, ast.Assert):
        return True
    if isinstance(node, ast.If) and _ends(node.body) != _ends(node.orelse):
        return _ends(node.orelse)
    return None


def _parts(test: ast.expr, answer: bool | None) -> Iterator[tuple[ast.expr, bool | None]]:
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _parts(value, answer)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _parts(test.operand, None if answer is None else not answer)
    else:
        yield test, True if _FINITE.search(ast.unparse(test)) else answer
        if isinstance(test, ast.Call) and ast.unparse(test.func) == "bool" and len(test.args) == 1:
            yield from _parts(test.args[0], answer)


def _ends(body: list[ast.stmt]) -> bool:
    """True if the branch ends the program, or the call."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.Raise):
        # A raised `StopIteration` is how a loop ends well.
        return last.exc is None or not ast.unparse(last.exc).startswith("Stop")
    return isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) and ast.unparse(last.value.func) in _EXITS
