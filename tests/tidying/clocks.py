"""Comparisons with a duration in tests: on a slow machine they fail without a fault, so a test counts calls, lines or processes.

The end of a wait (`time.monotonic() < deadline`) is no such comparison.
"""

import ast
import re
from collections.abc import Iterator

DURATION = re.compile(r"\b\w*(seconds|elapsed|milliseconds)\b|\b(perf_counter|process_time)\b|(monotonic|time\.time)\(\) -", re.IGNORECASE)


def find_clocks(name: str, text: str) -> Iterator[str]:
    """The assertions of a file that a slow machine fails."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and is_measured(node.test):
            yield f"{name}:{node.lineno}: the assertion compares a duration; count calls, lines or processes"


def is_measured(condition: ast.expr) -> bool:
    """True if a side of `<` or `>` in a condition is a duration."""
    orders = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
    compared = [node for node in ast.walk(condition) if isinstance(node, ast.Compare) and any(isinstance(it, orders) for it in node.ops)]
    return any(DURATION.search(ast.unparse(node)) for node in compared)
