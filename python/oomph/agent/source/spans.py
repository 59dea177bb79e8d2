"""Finds nodes by line, and by the position of a running instruction."""

import ast
import itertools
from collections.abc import Iterable, Iterator
from types import FrameType

from . import trees

# The first line and column, and the last; a column is in bytes.
Span = tuple[tuple[int, int], tuple[int, int]]

# The fields that hold the statements, handlers and cases of a node.
_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")


def find_path(node: ast.AST, line: int) -> list[ast.AST]:
    """The node and the statements around a line, outermost first."""
    path: list[ast.AST] = []
    inner: ast.AST | None = node
    while inner is not None:
        path.append(inner)
        inner = next((child for child in _list_blocks(inner) if covers(child, line)), None)
    return path


def find_running(frame: FrameType) -> list[ast.AST]:
    """The module and the statements around the running line, outermost first; empty without a source."""
    module = trees.parse(frame.f_code.co_filename, frame.f_globals)
    return find_path(module, frame.f_lineno) if module is not None else []


def _list_blocks(node: ast.AST) -> Iterator[ast.AST]:
    """The statements, handlers and cases directly in a node."""
    for name in _BLOCKS:
        value = getattr(node, name, None)
        if isinstance(value, list):
            yield from value


def covers(node: ast.AST, line: int) -> bool:
    """True if a statement spans the line."""
    if isinstance(node, ast.match_case):
        return is_in(node.body, line)
    # The decorators of a function run outside it.
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def is_in(statements: Iterable[ast.AST], line: int) -> bool:
    """True if one of the statements covers the line."""
    return any(covers(statement, line) for statement in statements)


def span_of(node: ast.AST) -> Span:
    """The span of a statement or an expression."""
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def is_within(inner: Span, outer: Span) -> bool:
    """True if a span lies in another."""
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def find_instruction(frame: FrameType) -> Span | None:
    """The span of the running instruction's expression; `None` before Python 3.11, without positions of instructions."""
    if not hasattr(frame.f_code, "co_positions"):
        return None
    positions = itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None)
    return as_span(next(positions, (None,) * 4))


def as_span(position: Iterable[int | None]) -> Span | None:
    """The span of an instruction's lines and columns, in the order of `co_positions`; `None` if one is missing."""
    first, last, start, end = position
    return None if None in (first, last, start, end) else ((first, start), (last, end))
