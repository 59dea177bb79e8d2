"""The branches that no pass took and that a pass that was left out may take, because their condition is not known."""

import ast
from collections.abc import Iterator

from .. import records
from ..ahead.function import Function
from ..ahead.items import Item
from ..source import trees
from . import calls, rewriting
from .reached import Body


class Untaken:
    """The branches with an unknown condition, of all loops that were shortened."""

    def __init__(self) -> None:
        # By the file and the first line of a branch.
        self._items: dict[tuple[str, int], Item] = {}

    def note(self, node: ast.If, body: Body) -> None:
        """Notes what the branches of a condition do. Raises `Spent`."""
        function = Function(body.file, trees.parse(body.file), body.scope)
        for block in (node.body, node.orelse):
            if block and (body.file, block[0].lineno) not in self._items and not isinstance(block[0], ast.If):
                item = next((it for statement in block for it in function.judge(statement)), None)
                if item is not None:
                    self._items[body.file, block[0].lineno] = item

    def is_open(self, loop: rewriting.Loop) -> bool:
        """True if the loop's own code has such a branch that has not run."""
        first, last = loop.line, loop.node.end_lineno or loop.line
        return any(file == loop.file and first <= line <= last and _is_untaken(file, line) for file, line in self._items)

    def list_records(self) -> Iterator[dict]:
        """The records of the branches that did not run."""
        for place, item in self._items.items():
            if _is_untaken(*place):
                yield records.ahead(reason=item.reason, what=item.what, file=item.file, line=item.line, shares_line=True)


def _is_untaken(file: str, line: int) -> bool:
    """True for a noted branch that has not run."""
    number = rewriting.BRANCH_AT.get((file, line))
    return number is not None and number not in calls.ran
