"""Lengths of functions and files: a file of at most 400 lines, a function of at most 60.

The files and functions of `LONGER` are older than the limits: each has a limit of its own, which is only ever lowered.
"""

import ast
import pathlib
import re
from collections.abc import Iterator

FILE_LINES, FUNCTION_LINES = 400, 60
# Tables of rows or of programs, and nothing else.
TABLES = {
    "crates/wire/src/record/marks.rs", "tests/captures/blind.py", "tests/captures/blind_more.py", "tests/compiled/work.py",
    "tests/values/blind.py", "tests/values/blind_more.py", "tests/zoo/layers.py",
}  # fmt: skip
LONGER = {
    "crates/diagnose/src/judge/probes.rs: a_probe_is_for_a_program_that_trains_with_what_was_found": 68,
    "crates/report/tests/render.rs: full": 61,
    "crates/report/tests/render.rs: the_headline_never_says_more_than_was_seen": 69,
    "crates/diagnose/tests/check/main.rs": 705,
    "crates/diagnose/tests/explain/main.rs": 745,
    "crates/phantom/tests/undo.rs": 486,
    "crates/report/tests/render.rs": 619,
    "crates/run/src/fork/schedule.rs": 403,
    "python/tests/test_bounds.py": 454,
}
RUST = re.compile(r"( *)(?:pub(?:\([^)]*\))? )?(?:(?:const|async|unsafe|extern \"[^\"]*\") )*fn (\w+)")


def find_long(name: str, text: str) -> Iterator[str]:
    """The problems of a source file."""
    count = len(text.splitlines())
    most = LONGER.get(name, FILE_LINES)
    if count > most and name not in TABLES:
        yield f"{name}: {count} lines, at most {most}"
    for line, function, lines in measure_functions(name, text):
        most = LONGER.get(f"{name}: {function}", FUNCTION_LINES)
        if lines > most:
            yield f"{name}:{line}: {function} has {lines} lines, at most {most}"


def measure_functions(name: str, text: str) -> Iterator[tuple[int, str, int]]:
    """The line, the name and the lines of each function; none of a file that is no Python, such as a notebook's cells."""
    if name.endswith(".rs"):
        yield from _measure_rust(text.splitlines())
        return
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.name, node.end_lineno - node.lineno + 1


def _measure_rust(lines: list[str]) -> Iterator[tuple[int, str, int]]:
    """As `cargo fmt` writes functions: the brace at the end has the indent of `fn`."""
    for place, line in enumerate(lines):
        match = RUST.match(line)
        head = next((at for at in range(place, len(lines)) if lines[at].endswith(("{", "}", ";"))), place)
        if match and lines[head].endswith("{"):
            end = next((at for at in range(head, len(lines)) if lines[at] == f"{match[1]}}}"), head)
            yield place + 1, match[2], end - place + 1
