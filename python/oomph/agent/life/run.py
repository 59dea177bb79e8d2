"""A run of a loop: the passes so far, with the memory of each, and the next pass."""

import types
from collections.abc import Callable

from ..ahead.samples import LoaderScope
from ..process.objects import Budget, Spent
from ..source.scope import Scope
from . import loaders, lots
from .counters import Counter, Grown, JobSteps, difference, find_counters, find_lists
from .items import FAR, Items, Read
from .known import KNOWN, Known
from .plan import Plan
from .reached import Body, list_bodies
from .rewriting import LOOPS, Loop
from .scanning import Course, note_pass, scan
from .signature import MOST_COMPARED, Inside, Pass, Reading, are_mixed, between, find_period
from .untaken import Untaken

# The most nodes that the reading of a loop's code visits.
_NODES = 200_000
# Passes of batches that differ, before the loop goes on with the largest.
_VARYING = 8
# Passes without a step, in a loop with steps, that are taken for a long accumulation.
_BETWEEN_STEPS = 130
# Passes alike, before those of a loop whose sizes are drawn by lot are left out.
_DRAWN = 40
# The largest batches that are run.
_LARGEST = 2
# The passes of a loop with an open end or branch, and the allocations, before passes are left out: about three seconds.
_OPEN_PASSES, _OPEN_ALLOCATIONS = 1_000, 30_000
# The plans after which the code is read again.
_PLAN_USES = 8


class Run:
    """A loop that is running."""

    def __init__(self, loop: Loop, items: Items | None, known: Known, reading: Reading, frame_id: int, untaken: Untaken, steps: JobSteps) -> None:
        self.loop = loop
        self.items = items
        self.known = known
        self.frame_id = frame_id
        self._untaken = untaken
        self._steps = steps
        # The positions of the passes so far, and the effect of each.
        self.positions: list[int] = []
        self.passes: list[Pass] = []
        # Values of the loop's own counters, at the begin of each pass.
        self.own: list[list[int | None]] = [[] for _ in loop.counters]
        self.counters: list[Counter] = []
        self.lists: list[Grown] = []
        # The position of the pass to come, and the numbers to add to the own counters before.
        self.position = 0
        self.added: list[int] = [0] * len(loop.counters)
        self.new_values: list[object] = []
        self._reading = self._first = reading
        # The shortened loops that ended in this pass.
        self._inside: list[Inside] = []
        # True once a pass has made an optimizer step.
        self._has_stepped = False
        # The number of passes whose values the plan has counted.
        self._noted = 0
        # The first pass with all histories: places are found after the first pass.
        self._since = 0
        self._is_found = False
        self.reason = "alike"
        self.has_begun = False
        self.is_shortened = False
        self.total: int | None = None
        self.target: int | None = None
        self._largest: list[int] | None = None
        self.scan: loaders.Scan | None = None
        self._rises: list[int | None] = []
        # The pass in which the last item was read by `next`.
        self._read_in = -1
        self._read: object = None
        self._plan: Plan | None = None
        self._plan_uses = 0
        # The position up to which no pass is wanted.
        self._clear_until = 0
        # The allocations of the passes that have repeated, and the bytes that they left.
        self._repeated: set[tuple] = set()
        self._seen: dict[tuple, tuple[dict, dict, set]] = {}
        # True if the items cannot be jumped over.
        self.is_stuck = False

    def begin(self, values: tuple) -> list[object]:
        """Notes the own counters at the begin of a pass; returns the counters, raised by the skipped passes."""
        self.new_values = [value + more if more and type(value) is int else value for value, more in zip(values, self.added)]
        for history, value in zip(self.own, self.new_values):
            history.append(value if type(value) is int else None)
        self.added = [0] * len(self.added)
        return self.new_values

    def end_pass(self, reading: Reading) -> None:
        """Notes the effect of the pass that has just ended."""
        self.positions.append(self.position)
        self.passes.append(between(self._reading, reading, self._inside))
        self._inside = []
        self.known.note(self.passes[-1])
        self._has_stepped |= bool(self.passes[-1].steps)
        self._reading = reading
        self.position += 1

    def note_inside(self, other: "Run") -> None:
        """Notes a loop that ended in this pass."""
        if other.is_shortened:
            first, last = other._first, other._reading
            made = last.total_bytes - first.total_bytes, last.allocations - first.allocations, last.work - first.work
            kinds = frozenset() if other.reason == "varying" else frozenset(other.passes)
            self._inside.append(Inside(kinds, *made))

    def note_lots(self, frame: types.FrameType) -> None:
        """Notes whether the loop's code draws sizes by lot, once. The other passes are then not known to be alike."""
        if self.known.draws_sizes is None:
            passes = self.items.loader if self.items is not None else None
            loader = passes.loader if passes is not None else None
            try:
                self.known.draws_sizes = lots.draws_sizes(self.loop, self._read_code(frame), loader, Budget(_NODES))
            except Spent:
                self.known.draws_sizes = False
        if self.known.draws_sizes:
            self.reason = "varying"

    def find_places(self, frame: types.FrameType) -> None:
        """Finds the counters and the lists of the code, once, and notes their values."""
        if not self._is_found:
            self._is_found, self._since = True, len(self.passes)
            try:
                bodies = self._read_code(frame)
                self.counters, self.lists = find_counters(bodies, self.loop.counters), find_lists(bodies)
            except Spent:
                self.counters, self.lists = [], []
            self.counters.append(self._steps.counter())
        for each in (*self.counters, *self.lists):
            each.read()

    def _read_code(self, frame: types.FrameType) -> list[Body]:
        budget = Budget(_NODES)
        scope: Scope = LoaderScope.of_frame(frame, budget)
        return list_bodies(self.loop.node.body, self.loop.file, scope, budget)

    def find_read(self, iterator: object) -> Read | None:
        """The items that a `while` reads by `next`: of an iterator that two passes in a row read first, and once in a pass; else `None`."""
        if self._read_in == self.position:
            return None
        is_again, self._read = self._read is iterator, iterator
        self._read_in = self.position
        if not is_again:
            self.items = None
        elif self.items is None:
            self.items = Read(iterator, self.position)
        return self.items

    def find_repetition(self, wanted: int, steps: int) -> int | None:
        """The period of the last passes, 1 for batches that differ; `None` without repetition, or if too few optimizer steps were made."""
        if self._has_stepped and steps < wanted:
            return None
        if self.known.draws_sizes and len(self.passes) < _DRAWN and self.passes[-1].steps <= 1:
            return None
        period = self._find_period()
        if period is not None or not self._is_varying():
            return period
        if self.items is None or self.items.loader is None:
            # The batches of a loader are scanned, and the scan names the reason.
            self.reason = "varying"
        return 1

    def _find_period(self) -> int | None:
        count = len(self.passes) - self._since
        recent = self.passes[-min(count, MOST_COMPARED) :] if count else []
        is_ready = self.items is None or self.items.is_ready
        if not recent or not recent[-1].work or not is_ready:
            return None
        needs_step = self._has_stepped and count < _BETWEEN_STEPS
        period = find_period(recent, needs_step)
        if period is None:
            is_known = recent[-1] in self.known.steady or are_mixed(recent)
            return 1 if is_known and (recent[-1].steps or not needs_step) else None
        if period == 1:
            self.known.steady.add(recent[-1])
        return period

    def _is_varying(self) -> bool:
        """True if passes differ, and do not get to keep more and more: those of a loader by its batches, others after many passes."""
        loader = self.items.loader if self.items is not None else None
        if len(self.passes) < _VARYING:
            return False
        if loader is None:
            return self.known.are_bounded()
        if loader.are_alike:
            return False
        last = [it.current_bytes for it in self.passes[-4:]]
        return not all(a < b for a, b in zip(last, last[1:]))

    def plan(self, frame: types.FrameType, period: int) -> None:
        """Decides the next pass that runs: `target`."""
        histories = self._histories(frame)
        rises = [difference(it, period) for it in histories]
        before = self._rises or [self.known.rises.get(name) if period == 1 else None for name in self._names()]
        self._rises = rises = [known if rise is None else rise for rise, known in zip(rises, before)]
        self.known.rises.update(self._name_rises(rises) if period == 1 else {})
        plan = self._find_plan(frame)
        total = None if self.items is None else self.items.total
        # A list has no variable.
        histories, rises = histories[: len(histories) - len(self.lists)], rises[: len(rises) - len(self.lists)]
        inner = self._list_inner(len(histories))
        value_at = (lambda _position: None) if self.items is None else self.items.value
        is_changed = period == 1 and self._is_changed()
        if plan is not None:
            self._note_passed(plan, histories, is_changed, value_at, inner)
            found = scan(plan, Course(self.position, histories, rises, period), value_at, total, inner, 0 if plan.has_changes() else self._clear_until)
            self._clear_until = found.clear_until
            if not found.is_whole:
                self.reason = "cut"
        self.total = total if plan is None else found.total
        wanted = None if plan is None else found.wanted
        last = None if self.total is None else self.total - 1
        self.target = min((it for it in (wanted, *self._list_largest(), last) if it is not None and it >= self.position), default=None)

    def _is_changed(self) -> bool:
        """True if passes repeat in a way that is new: something has changed for good, such as the memory that is kept."""
        made, known = self.passes[-1].made, len(self._repeated)
        self._repeated.add(made)
        return 0 < known < len(self._repeated)

    def _note_passed(self, plan: Plan, histories: list[list[int | None]], is_changed: bool, value_at: Callable, inner: dict[int, int]) -> None:
        """Counts the values of the passes that were not counted yet; `is_changed`: all but the last, which repeats, have changed something."""
        first = max(self._since, self._noted)
        self._noted = len(self.passes)
        for number in range(first, len(self.passes)):
            has_changed = is_changed and number < len(self.passes) - 1
            values = [(history[number - self._since], history[number - self._since + 1]) for history in histories]
            note_pass(plan, value_at(self.positions[number]), values, (bool(self.passes[number].steps), has_changed), inner)

    def _histories(self, frame: types.FrameType) -> list[list[int | None]]:
        """The values of all counters since `_since`, with the one at the begin of the pass to come."""
        now = self._read_own(frame)
        own = [[*history[self._since :], value] for history, value in zip(self.own, now)]
        return [*own, *(it.values for it in self.counters), *(it.lengths for it in self.lists)]

    def _read_own(self, frame: types.FrameType) -> list[int | None]:
        scope = Scope.of_frame(frame)
        values = [scope.get(name) for name in self.loop.counters]
        return [value if type(value) is int else None for value in values]

    def _find_plan(self, frame: types.FrameType) -> Plan | None:
        """The plan, made anew now and then: other variables of the program change, too."""
        if self._plan_uses % _PLAN_USES == 0:
            self._plan = self._make_plan(frame)
        self._plan_uses += 1
        return self._plan

    def _make_plan(self, frame: types.FrameType) -> Plan | None:
        budget = Budget(_NODES)
        try:
            scope: Scope = LoaderScope.of_frame(frame, budget)
            bodies = list_bodies(self.loop.node.body, self.loop.file, scope, budget)
            plan = Plan(self.loop, bodies, self.counters, self._seen, budget)
            for node, body in plan.open_conditions:
                self._untaken.note(node, body)
            plan.forget_scopes()
            return plan
        except Spent:
            return None

    def _name_rises(self, rises: list[int | None]) -> dict[object, int]:
        return {name: rise for name, rise in zip(self._names(), rises) if rise is not None}

    def _names(self) -> list[object]:
        """The counters and the lists, as `Known` has them."""
        return [*self.loop.counters, *(it.place for it in self.counters), *(("list", id(it.values)) for it in self.lists)]

    def _list_inner(self, count: int) -> dict[int, int]:
        """The rise of each counter in a pass of a loop inside, by its index."""
        inside = [KNOWN[it.number].rises for it in LOOPS if it.number in KNOWN and it is not self.loop]
        own = [KNOWN[it.number].rises for it in LOOPS if it.number in KNOWN and self.loop.has_inside(it)]
        found: dict[int, int] = {}
        for index, name in enumerate(self._names()[:count]):
            # A variable has its name in this function only; an attribute is the same in all functions.
            rise = next((rises[name] for rises in (own if isinstance(name, str) else inside) if rises.get(name)), None)
            if rise is not None and self.known.rises.get(name) != rise:
                found[index] = rise
        return found

    def _list_largest(self) -> list[int]:
        """The positions of the largest batches, unless all are alike."""
        loader = self.items.loader if self.items is not None else None
        if loader is None or loader.are_alike:
            return []
        if self._largest is None:
            # The loader's position differs from the loop's by the batches made ahead.
            ahead = loader.position - self.items.taken
            found, self.scan = loader.list_largest(_LARGEST), loader.scan
            self.reason = "largest" if self.scan.is_complete and not self.known.draws_sizes else "varying"
            self._largest = [it - ahead for it in found or ()]
        return self._largest

    def go_on(self, period: int) -> bool:
        """Jumps towards the target; False if the loop is to end here."""
        if self.target is None and self.total is not None:
            return True
        if self._is_early():
            return True
        if self.target is None and self.items is None:
            # The passes have repeated for some time: only an open branch may make a difference.
            self.reason = "cut" if self._untaken.is_open(self.loop) else self.reason
            return False
        target = FAR if self.target is None else self.target
        landing = self.position + (target - self.position) // period * period
        if landing > self.position:
            self._jump(landing, period)
        is_endless = self.target is None and self.is_stuck and not (self.items is not None and self.items.is_over)
        if is_endless:
            self.reason = "cut"
        return not is_endless

    def _is_early(self) -> bool:
        """True if a branch is open, or the end of the loop, and the passes were short: more passes may show more."""
        is_open = (self.target is None and self.items is None) or (not self.is_shortened and self._untaken.is_open(self.loop))
        return is_open and len(self.passes) < _OPEN_PASSES and self._reading.allocations - self._first.allocations < _OPEN_ALLOCATIONS

    def _jump(self, landing: int, period: int) -> None:
        if self.items is not None:
            before = self.items.taken
            if not self.items.jump(before + landing - self.position):
                self.is_stuck = True
                return
            landing = self.position + self.items.taken - before
            if self.items.has_unseen:
                self.is_stuck = True
                self.reason = "varying" if self.items.loader is not None else self.reason
        over = landing - self.position
        if over <= 0:
            return
        self._raise_counters(over, period)
        self.position, self.is_shortened = landing, True
        self._forget_histories()

    def _raise_counters(self, over: int, period: int) -> None:
        for index in range(len(self.own)):
            # The value at the begin of the pass to come is not there yet.
            rise = self._rises[index]
            self.added[index] = 0 if rise is None else rise * (over // period)
        for index, counter in enumerate(self.counters, len(self.own)):
            if self._rises[index]:
                counter.add(self._rises[index] * (over // period))
        for index, each in enumerate(self.lists, len(self.own) + len(self.counters)):
            each.repeat((self._rises[index] or 0) * (over // period))

    def is_at_largest(self) -> bool:
        """True if the pass to come has one of the largest batches."""
        return self.target in (self._largest or ()) and self.reason == "largest"

    def has_trained(self, steps: int) -> bool:
        """True if optimizer steps were made in the loop; `steps`: the count of the whole program so far."""
        return steps > self._first.steps

    def _forget_histories(self) -> None:
        """Begins new histories behind a jump, with the values there."""
        self._since = len(self.passes)
        for each in self.counters:
            each.values.clear()
            each.read()
        for each in self.lists:
            each.lengths.clear()
            each.read()
