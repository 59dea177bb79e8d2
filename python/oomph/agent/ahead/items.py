"""Items: the work ahead of a stopped program that differs from the work that was run."""

from dataclasses import dataclass, field
from types import FrameType

_MOST_ITEMS = 8
# The most steps of a record.
_MOST_STEPS = 1 << 62


@dataclass(frozen=True)
class Item:
    """A part of the work that is left. `reason`: `unrun`, `larger`, `varying` or `unread`."""

    reason: str
    what: str
    file: str
    line: int


@dataclass
class Ahead:
    """The work that is left; nothing of note without items."""

    items: list[Item] = field(default_factory=list)
    # The passes of the innermost loop around the step, in all passes of the outer loops: the number begun, and the total. `None` if unknown.
    begun: int | None = None
    total: int | None = None
    # The place of the innermost loop.
    file: str = ""
    line: int = 0

    def enter_loop(self, file: str, line: int, begun: int | None, total: int | None) -> None:
        """Counts a loop: the innermost has the steps, and each outer loop repeats the inner ones."""
        if not self.line:
            self.file, self.line, self.begun, self.total = file, line, begun, total
        elif self.begun is None or self.total is None or begun is None:
            self.begun = self.total = None
        else:
            self.begun += (begun - 1) * self.total
            self.total = None if total is None else self.total * total

    def count_steps(self, steps: int) -> int | None:
        """The steps until the loops end, if `steps` were made so far: with accumulated gradients, several passes make one."""
        if self.total is None or not self.begun or self.total > _MOST_STEPS:
            return None
        found = round(self.total * steps / self.begun)
        return found if found <= _MOST_STEPS else None

    def leave_out(self, frame: FrameType) -> None:
        """Notes a function whose source was not read to the end, and whose loops were not all counted."""
        self.add(Item("unread", "", frame.f_code.co_filename, frame.f_lineno))
        self.enter_loop(frame.f_code.co_filename, frame.f_lineno, None, None)

    def add(self, item: Item) -> None:
        """Adds an item, once for each line."""
        known = any((it.file, it.line, it.reason) == (item.file, item.line, item.reason) for it in self.items)
        if not known and len(self.items) < _MOST_ITEMS:
            self.items.append(item)
