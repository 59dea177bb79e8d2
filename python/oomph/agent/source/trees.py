"""Parses the sources of running code, each file once.

A source is read up to a bound. The name of a code object's file is the program's choice: only a regular file is read.
"""

import ast
import linecache
import os
import stat
from collections.abc import Iterator
from types import CodeType

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

# In bytes of source. A tree takes some hundred times as much memory; 50,000 lines have about 2 MiB.
_LONGEST = 4 << 20
_trees: dict[str, ast.Module | None] = {}
# The functions of each file, by name and first line.
_functions: dict[str, dict[tuple[str, int], Definition]] = {}


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


def walk(file: str, namespace: dict | None = None) -> Iterator[ast.AST]:
    """All nodes of a file, the outer ones first; none without a source."""
    tree = parse(file, namespace)
    return ast.walk(tree) if tree is not None else iter(())


def find_definition(code: CodeType, namespace: dict | None = None) -> Definition | None:
    """The parsed definition of a function; `None` without its source. Of several lambdas in a line, the last."""
    file = code.co_filename
    if file not in _functions:
        found = (node for node in walk(file, namespace) if isinstance(node, Definition))
        _functions[file] = {(getattr(node, "name", "<lambda>"), _first_line(node)): node for node in found}
    return _functions[file].get((code.co_name, code.co_firstlineno))


def _first_line(node: Definition) -> int:
    """The first line of a definition, or of the first decorator, as in `co_firstlineno`."""
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])


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
