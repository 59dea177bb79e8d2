"""The parsed source of running code, and the statements around a line.

A source is read up to a bound. The name of a code object's file is the program's choice: only a regular file is read.
"""

import ast
import itertools
import linecache
import os
import stat
from collections.abc import Iterator
from types import FrameType

# In bytes of source. A tree takes some hundred times as much memory; 50,000 lines have about 2 MiB.
_LONGEST = 4 << 20
_trees: dict[str, ast.Module | None] = {}


def parse(file: str, namespace: dict | None = None) -> ast.Module | None:
    """The parsed source of a file; `None` without a source, or with one that is too long."""
    if file not in _trees:
        _trees[file] = parse_text("".join(read_lines(file, namespace)))
    return _trees[file]


def parse_text(source: str | bytes) -> ast.Module | None:
    """The tree of a source; `None` for an empty one, for one that Python does not parse, and for one that is too long."""
    try:
        return ast.parse(source) if source and len(source) <= _LONGEST else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # The parser raises a MemoryError if expressions are nested too deeply.
        return None


def parse_script(path: str) -> ast.Module | None:
    """The tree of a script that was not run yet; `None` if it cannot be read or parsed: Python will say so better."""
    try:
        with open(path, "rb") as file:
            return parse_text(file.read(_LONGEST + 1))
    except OSError:
        return None


def read_lines(file: str, namespace: dict | None = None) -> list[str]:
    """The lines of a file as the interpreter shows them in tracebacks; empty for a device, a pipe or a file that is too long."""
    try:
        status = os.stat(file)
    except OSError:
        # A cell of a notebook, or a module in an archive.
        return linecache.getlines(file, namespace)
    except ValueError:
        # No file has a zero byte in its name.
        return []
    is_read = stat.S_ISREG(status.st_mode) and status.st_size <= _LONGEST
    return linecache.getlines(file, namespace) if is_read else []


def read_line(file: str, line: int) -> str:
    """A line of a file, counted from 1; empty if the file has none."""
    lines = read_lines(file)
    return lines[line - 1] if 0 < line <= len(lines) else ""


def find_path(tree: ast.AST, line: int) -> list[ast.AST]:
    """The statements around a line, outermost first."""
    path: list[ast.AST] = []
    node: ast.AST | None = tree
    while node is not None:
        path.append(node)
        node = next((child for child in _list_blocks(node) if covers(child, line)), None)
    return path


def _list_blocks(node: ast.AST) -> Iterator[ast.AST]:
    """The statements, handlers and cases directly in a node."""
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        value = getattr(node, name, None)
        if isinstance(value, list):
            yield from value


def covers(node: ast.AST, line: int) -> bool:
    """True if a statement spans the line."""
    if isinstance(node, ast.match_case):
        return any(covers(child, line) for child in node.body)
    # The decorators of a function run outside it.
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def has_condition(file: str, line: int) -> bool:
    """True if a condition stands on the line of a file that was parsed: a statement on the line of its `if`, or an expression with two ways."""
    tree = _trees.get(file)
    return tree is not None and any(_is_condition(node, line) for node in ast.walk(tree))


def _is_condition(node: ast.AST, line: int) -> bool:
    if isinstance(node, (ast.If, ast.While)):
        return node.lineno == node.body[0].lineno == line
    return isinstance(node, (ast.IfExp, ast.BoolOp)) and covers(node, line)


def find_end_of_call(frame: FrameType) -> tuple[int, int] | None:
    """The line and column behind the running instruction's expression; `None` before Python 3.11, without positions of instructions."""
    position = find_position(frame)
    return None if position is None else position[2:]


def find_position(frame: FrameType) -> tuple[int, int, int, int] | None:
    """The first line and column and the last ones of the running instruction's expression; `None` before Python 3.11."""
    if not hasattr(frame.f_code, "co_positions"):
        return None
    positions = itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None)
    first, last, start, end = next(positions, (None,) * 4)
    return None if None in (first, last, start, end) else (first, start, last, end)


def is_in(statements: list, line: int) -> bool:
    """True if one of the statements covers the line."""
    return any(covers(statement, line) for statement in statements)
