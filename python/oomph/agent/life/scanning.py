"""The search for the next pass that differs: each pass to come is described by the counters, and compared with the passes so far."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .plan import Plan, Watch

# The values that a scan computes in about a second: the same on every machine.
_VALUES = 1_000_000
# The passes ahead of a loop without a known end, and those of a loop inside.
_FARTHEST, _FARTHEST_INSIDE = 100_000, 100_000


@dataclass
class Course:
    """How the passes go on: the position of the next one, and each counter's value at the begin of a pass."""

    position: int
    # By counter: the values at the begin of the passes so far, the last of the pass to come.
    values: list[list[int | None]]
    rises: list[int | None]
    period: int

    def of(self, index: int, position: int) -> int | None:
        """A counter's value at the begin of a pass to come."""
        values, rise, period = self.values[index], self.rises[index], self.period
        ahead = position - self.position
        if ahead == 0:
            return values[-1]
        if rise is None or values[-1] is None:
            return None
        if period == 1:
            return values[-1] + rise * ahead
        if len(values) <= period:
            return None
        base = values[len(values) - 1 - period + ahead % period]
        return None if base is None else base + rise * (1 + ahead // period)


@dataclass
class Scan:
    """What a plan found ahead."""

    # The next wanted pass; `None` if the passes to come repeat earlier passes.
    wanted: int | None
    # The number of passes, as far as it is known.
    total: int | None
    # The position up to which no pass is wanted.
    clear_until: int
    # False if passes with a known number were left unread.
    is_whole: bool = True


def scan(plan: Plan, course: Course, value_at: Callable[[int], object], total: int | None, inner: dict[int, int], start: int) -> Scan:
    """Finds the next pass with a new value, from `start` on; `inner`: the rise of counters in a pass of a loop inside."""
    computed, position, count = 0, max(course.position, start), len(course.values)
    last = position + _FARTHEST if total is None else total
    used = plan.list_used(count)
    while position < last and plan.watches:
        if computed > _VALUES:
            return Scan(None, total, position, is_whole=False)
        arguments = [value_at(position), *([None] * (2 * count))]
        for index in used:
            arguments[1 + 2 * index], arguments[2 + 2 * index] = course.of(index, position), course.of(index, position + 1)
        for watch in plan.watches:
            for value in _values(watch, arguments, count, inner):
                computed += 1
                if watch.ends_if is not None and value is not None and bool(value) is watch.ends_if:
                    end = position + (1 if watch.ends_if else 0)
                    return Scan(None if end <= course.position else end - 1, end, position)
                if value is not None and watch.is_new(value):
                    return Scan(position, total, position)
        position += 1
    return Scan(None, total, position)


def _values(watch: Watch, arguments: list, count: int, inner: dict[int, int]) -> Iterator[object]:
    """The value of a watch in a pass, or the values over the passes of a loop inside."""
    if not watch.is_nested or not inner:
        yield watch.value(arguments)
        return
    changed = list(arguments)
    index = next(iter(inner))
    first, last, rise = arguments[1 + 2 * index], arguments[2 + 2 * index], inner[index]
    if first is None or last is None or rise == 0 or abs(last - first) > abs(rise) * _FARTHEST_INSIDE:
        yield watch.value(arguments)
        return
    for value in range(first, last, rise):
        changed[1 + 2 * index], changed[2 + 2 * index] = value, value + rise
        yield watch.value(changed)


def note_pass(plan: Plan, target: object, values: list[tuple[int | None, int | None]], did: tuple[bool, bool], inner: dict[int, int]) -> None:
    """Counts the values of a pass that ran.

    `values`: each counter's value at the begin of the pass, and of the next; `did`: whether the pass made a step, and whether it changed something
    for good.
    """
    arguments = [target, *(value for both in values for value in both)]
    for watch in plan.watches:
        for value in _values(watch, arguments, len(values), inner):
            watch.note(value, *did)
