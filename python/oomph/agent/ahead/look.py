"""Reads from a program that is about to be stopped the work that it has left.

Note [Ahead]
~~~~~~~~~~~~
A dry run shows a few steps of thousands. The sources of the running functions tell if those steps stand for the rest: the passes that
their loops have left, the statements behind the loops, and the program's own functions that are called there. The passes so far are walked
in the same way, and the calls are compared: a call that comes and did not run yet (an evaluation every 500 steps, a second model, an
export), and a call with a larger number than before (a longer sequence). Calls that take no memory of a GPU are left out. Anything unknown
counts as different: batches of a generator, of a dataset with texts, the loops of a library.

The walks have bounds in statements, and all walks of a look together a bound in nodes (Note [Bounds] in `process.objects`). The place where a walk
came to its bound is an item too: the statements behind were not read.
"""

import ast
import copy
from collections.abc import Iterator
from types import FrameType

from ..process import frames
from ..process.objects import Budget, Spent
from ..source import spans
from ..source.flow import LOOPS, WITHS, split, take_own
from ..source.scope import Scope, truth
from .items import Ahead, Item
from .loops import Passes, read_passes
from .samples import LoaderScope
from .walk import STATEMENTS_BEHIND, STATEMENTS_ONCE, Place, Position, Walk, bind, forget_assigned

# The most nodes of statements and expressions that the walks visit in some seconds. A long script has some ten thousand.
_NODES = 500_000
# The share of a running function, and of a node that is copied.
_NODES_OF_FRAME, _NODES_OF_COPY = 1_000, 8


def look(frame: FrameType | None, steps: int) -> Ahead:
    """The work that is left after the call in `frame`; `steps` of the calls were made."""
    ahead, past, budget = Ahead(), Walk(limit=STATEMENTS_BEHIND), Budget(_NODES)
    done = steps
    for running in frames.list_running(frame):
        try:
            done = _look_at(running, done, ahead, past, budget)
        except Spent:
            ahead.leave_out(running)
            break
        except RecursionError:
            # An expression nested more deeply than functions of Python call each other.
            ahead.leave_out(running)
    return ahead


def _look_at(frame: FrameType, done: int, ahead: Ahead, past: Walk, budget: Budget) -> int:
    """Notes the work that is left in a running function; returns the number of its calls."""
    file = frame.f_code.co_filename
    budget.spend(_NODES_OF_FRAME)
    if frames.is_users(file):
        return _Function(frame, done, ahead, past, budget).look()
    if not frames.is_agents(file):
        _look_at_library(frame, ahead)
    return done


def _look_at_library(frame: FrameType, ahead: Ahead) -> None:
    """A loop of a library around the step: its batches may differ."""
    if _may_train(frame) and any(isinstance(node, LOOPS) for node in take_own(spans.find_running(frame))):
        ahead.add(Item("varying", "", "", 0))


def _may_train(frame: FrameType) -> bool:
    """False for the modules that start programs, and for PyTorch's own calls of an optimizer."""
    module = dict.get(frame.f_globals, "__name__", "")
    return type(module) is not str or not module.startswith(("torch.", "runpy", "importlib", "threading", "multiprocessing", "asyncio"))


def _is_call_behind(node: ast.AST, place: tuple[int, int]) -> bool:
    return isinstance(node, ast.Call) and spans.span_of(node)[0] >= place


class _Cut(ast.NodeTransformer):
    """Leaves out the calls from a place on."""

    def __init__(self, end: tuple[int, int]) -> None:
        self.end = end

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if _is_call_behind(node, self.end):
            return ast.copy_location(ast.Constant(None), node)
        return self.generic_visit(node)


class _Function:
    """A running function of the program's own."""

    def __init__(self, frame: FrameType, done: int, ahead: Ahead, past: Walk, budget: Budget) -> None:
        self.frame = frame
        self.done = done
        self.ahead = ahead
        self.past = past
        self.budget = budget
        self.file = frame.f_code.co_filename
        self.path = take_own(spans.find_running(frame))
        # One scope for all that is left: a loop goes on where the inner loop ended.
        self.scope = self._now()
        # The walks behind the blocks inside the next loop, whose earlier passes may have run the same.
        self.pending: list[Walk] = []

    def look(self) -> int:
        """Notes the work that is left in this function; returns the number of calls of the function: one, if the function has a loop."""
        if len(self.path) < 2:
            self.ahead.leave_out(self.frame)
            return self.done
        if not isinstance(self.path[-1], (*LOOPS, *WITHS, ast.If, ast.Try)):
            self._look_in_statement(self.path[-1])
        for index in range(len(self.path) - 1, 0, -1):
            self._look_around(self.path[index - 1], self.path[index])
        self._compare_pending()
        return self.done

    def _look_in_statement(self, statement: ast.AST) -> None:
        """Notes the calls of the running statement: those behind the call that is under way come later."""
        at = Position(self.file, self._now())
        running = spans.find_instruction(self.frame)
        end = None if running is None else running[1]
        behind = [] if end is None else [node for node in ast.walk(statement) if _is_call_behind(node, end)]
        if not behind:
            self.past.note(statement, at)
            return
        self.budget.spend(_NODES_OF_COPY * sum(1 for _ in ast.walk(statement)))
        self.past.note(_Cut(end).visit(copy.deepcopy(statement)), at)
        future = Walk()
        for call in behind:
            future.note(call, self._here())
        self.pending.append(future)

    def _look_around(self, parent: ast.AST, child: ast.AST) -> None:
        """Notes the work after `child` in `parent`."""
        before, after = split(parent, child)
        if isinstance(parent, LOOPS) and child in parent.body:
            self._look_in_loop(parent, before, after)
            return
        self.past.block(before, Position(self.file, self._now()))
        after = [*after, *parent.finalbody] if isinstance(parent, ast.Try) and child not in parent.finalbody else after
        future = Walk(limit=STATEMENTS_ONCE)
        future.block(after, self._here())
        self.pending.append(future)

    def _compare_pending(self) -> None:
        for future in self.pending:
            self._compare(future)
        self.pending.clear()

    def _now(self) -> Scope:
        """The variables as they are, whatever the walks have changed."""
        return LoaderScope.of_frame(self.frame, self.budget)

    def _here(self) -> Position:
        return Position(self.file, self.scope)

    def _look_in_loop(self, loop, before: list, after: list) -> None:
        passes = read_passes(loop, self._now())
        done = self._count_done(loop, passes)
        self._walk_past(loop, passes, done, before)
        self._compare_pending()
        future = Walk()
        left = future.block(after, self._here())
        total = done if left in ("break", "return") else self._walk_passes(loop, passes, done, future)
        self.ahead.enter_loop(self.file, loop.lineno, done if self._is_counted(loop, passes) else None, total)
        self._compare(future)
        if not passes.is_alike and (total is None or done < total):
            self.ahead.add(Item("varying", "", self.file, loop.lineno))
        forget_assigned(loop.body, self.scope)
        # The function around the loop was called once for it.
        self.done = 1

    def _walk_passes(self, loop, passes: Passes, done: int, future: Walk) -> int | None:
        """Walks the passes that are left; returns the number of all passes."""
        body, number = loop.body, done
        while not future.is_spent() and (passes.total is None or number < passes.total):
            if not self._enter_pass(loop, passes, number):
                return number
            body, left = self._walk_pass(body, future, is_chosen=number > done + 1)
            number += 1
            if left in ("break", "return"):
                return number
            if not body:
                # Each pass to come is as this one.
                break
        if passes.total is not None and number < passes.total:
            self._enter_pass(loop, passes, passes.total - 1)
            self._walk_once(loop.body, future, self._here())
        if future.is_spent():
            # Any condition may hold in a pass that was not walked.
            forget_assigned([loop], self.scope)
            future.cut_at = None
            self._walk_once(loop.body, future, self._here().unsure())
        return passes.total

    def _walk_once(self, body: list, future: Walk, at: Position) -> None:
        """Walks a whole pass, whatever was spent on the passes before."""
        once = Walk(future.calls, limit=STATEMENTS_ONCE)
        once.block(body, at)
        future.cut_at = future.cut_at or once.cut_at

    def _walk_pass(self, body: list, future: Walk, *, is_chosen: bool) -> tuple[list, str | None]:
        """Walks one pass; returns the statements with a possible difference in the next pass, and the end of the pass."""
        chosen, left = [], None
        for statement in body:
            events = future.events
            left = future.block([statement], self._here())
            if is_chosen or future.events > events or isinstance(statement, (ast.Break, ast.Continue, ast.Return)):
                chosen.append(statement)
            if left is not None:
                break
        return (chosen if left is None else body), left

    def _enter_pass(self, loop, passes: Passes, number: int) -> bool:
        """Binds the target of one pass; False if a condition ends the loop before."""
        if isinstance(loop, ast.While):
            return truth(self.scope.evaluate(loop.test)) is not False
        bind(loop.target, passes.value(number), self.scope)
        return True

    def _count_done(self, loop, passes: Passes) -> int:
        """The number of passes that have begun; without a target that tells, one for each call of the step or of the loop inside."""
        found = self._find_pass(loop, passes)
        return self.done if found is None else found + 1

    def _find_pass(self, loop, passes: Passes) -> int | None:
        """The pass under way, by the value of the loop's target."""
        if isinstance(loop, ast.While):
            return None
        return passes.find(self._now().evaluate(loop.target))

    def _is_counted(self, loop, passes: Passes) -> bool:
        """True if the number of passes is sure: the target tells, or each pass comes to the running statement."""
        inside = self.path[self.path.index(loop) + 1 :]
        return self._find_pass(loop, passes) is not None or not any(isinstance(node, ast.If) for node in inside)

    def _walk_past(self, loop, passes: Passes, done: int, before: list) -> None:
        """Walks the passes that were made, and the begun part of the last."""
        scope = self._now()
        forget_assigned(loop.body, scope)
        for name, value in _read_counters(loop, self.path, self._now(), done):
            scope.set(name, value)
        position = Position(self.file, scope)
        for number in range(done):
            if self.past.is_spent():
                break
            if not isinstance(loop, ast.While):
                bind(loop.target, passes.value(number), scope)
            self.past.block(loop.body if number < done - 1 else before, position)

    def _compare(self, future: Walk) -> None:
        """Notes the future calls that the past calls do not cover."""
        unrun = {place for place, call in future.calls.items() if call.name and not self._has_run(place)}
        for place, call in future.calls.items():
            if place in unrun:
                if call.outer not in unrun:
                    self.ahead.add(Item("unrun", call.name, place[0], place[1]))
                continue
            earlier = self.past.calls.get(place, call)
            for index, (number, text) in call.numbers.items():
                if number > earlier.numbers.get(index, (number, ""))[0]:
                    self.ahead.add(Item("larger", text, place[0], place[1]))
        if future.cut_at is not None:
            self.ahead.add(Item("unread", "", future.cut_at[0], future.cut_at[1]))
        for place in future.varying:
            self.ahead.add(Item("varying", "", place[0], place[1]))
        # Each call is noted once.
        for place, call in future.calls.items():
            self.past.calls.setdefault(place, call).is_sure = True

    def _has_run(self, place: Place) -> bool:
        earlier = self.past.calls.get(place)
        return earlier is not None and earlier.is_sure


def _read_counters(loop, path: list, now: Scope, done: int) -> Iterator[tuple[str, int]]:
    """The counters of a loop, with the values before the first pass."""
    for statement in loop.body:
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name) and isinstance(statement.op, ast.Add):
            value, by = now.get(statement.target.id), now.evaluate(statement.value)
            if type(value) is int and type(by) is int:
                # The current pass has raised the counter if the statement stands before the running one.
                current = next((node for node in path if node in loop.body), None)
                is_before = current is None or statement.lineno < current.lineno
                yield statement.target.id, value - by * (done if is_before else done - 1)
