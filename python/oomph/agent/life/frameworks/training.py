"""The training loop of a library: the steps to run, and the jumps between."""

from collections.abc import Callable, Iterable
from types import FrameType

from ...failure import guarded
from ...process import frames
from ..loaders import LoaderPasses
from ..passes import Control
from ..signature import Reading, between
from .due import Due, find_landing
from .watched import Watched, watch

# The number of largest batches to run.
_LARGEST = 2
# The first epochs, without a jump to a later epoch.
_EPOCHS = 2
# The most batches in hand, ahead of the loop.
MOST_AHEAD = 2


class Place:
    """The place of a loop. Each library has a class, with the work due and the way to other places."""

    # Optimizer steps so far, and in the whole training; `None` if unknown.
    steps: int
    all_steps: int | None
    # The batch to come, all batches of the epoch, and the batches of a step.
    position: int
    batches: int
    group: int
    # The open iterator, and the number of batches between the iterator and the loop.
    loader: LoaderPasses | None
    ahead: int

    def list_due(self) -> dict[str, Due]:
        """The work due after steps, by kind."""
        raise NotImplementedError

    def jump(self, landing: int) -> bool:
        """Goes on with a batch of this epoch; False if the loader cannot."""
        raise NotImplementedError

    def skip_epochs(self, dues: Iterable[int]) -> bool:
        """Renames the epoch: the one with the first of the steps, or the last; True after a change."""
        return False

    def end_epoch(self) -> None:
        """The last batch of a shortened epoch has run."""

    def batch_of(self, step: int) -> int:
        """The first batch of an optimizer step, in the epoch."""
        return self.position + (step - 1 - self.steps) * self.group


class Training:
    """One call of a library's training."""

    def __init__(self, control: Control, frame: FrameType) -> None:
        self._control = control
        self._loop: Watched = watch(*frames.users_line(frame))
        self._last: Reading = control.pulse.read()
        self._first_steps = self._last.steps
        # Known after the first step.
        self._due: dict[str, Due] | None = None
        self._epochs = 0
        # The largest batches of the epoch; `None` while unknown.
        self._largest: list[int] | None = None
        # The bytes at the begin of each epoch.
        self._left: list[int] = []

    @guarded
    def begin_epoch(self) -> None:
        """An epoch begins: the time since the last step is no pass."""
        self._epochs += 1
        self._last = self._control.pulse.read()
        self._left.append(self._last.current_bytes)
        # Each epoch has an order of its own.
        self._largest = None
        self._loop.begin_again()
        self._control.stages.begin_loop(is_again=self._epochs > 1)

    @guarded
    def end_step(self) -> None:
        """A step is over; an evaluation or a save may follow."""
        now = self._control.pulse.read()
        if now.steps > self._last.steps:
            self._loop.end_pass(between(self._last, now))
        self._last = now

    @guarded
    def go_on(self, place: Place | None) -> None:
        """Jumps to the next step of interest, if steps repeat."""
        now = self._control.pulse.read()
        has_evaluated, self._last = now.work > self._last.work, now
        if place is None or not self._loop.passes:
            return
        if self._note_due(place, now.current_bytes) or has_evaluated:
            self._loop.begin_again()
        self._loop.total = place.all_steps
        if place.all_steps is not None and place.steps >= place.all_steps:
            return
        if place.position >= place.batches:
            if self._loop.is_shortened:
                place.end_epoch()
            return
        before = place.steps
        landing = self._choose(place, now)
        if landing > place.position and place.jump(landing):
            self._loop.is_shortened = True
            self._loop.begin_again()
        if place.steps > before:
            self._control.steps.skip(place.steps - before)
        self._control.stages.begin_pass(any(landing <= it < landing + place.group for it in self._largest or ()))

    def _note_due(self, place: Place, left: int) -> bool:
        """Notes the work of the step; True for more than a line of a log."""
        if self._due is None:
            self._due = place.list_due()
        came = {name for name, due in self._due.items() if due.comes_at(place.steps)}
        for name in came:
            self._due[name].left.append(left)
        return bool(came - {"log"})

    def _choose(self, place: Place, now: Reading) -> int:
        """The next batch of the loop."""
        loader = place.loader
        varies = loader is not None and not loader.are_alike
        if now.steps - self._first_steps < self._control.wanted or self._loop.find_period(varies) is None:
            return place.position
        if varies and self._largest is None:
            self._loop.scan, self._largest = loader.scan, list(loader.list_largest(_LARGEST) or ())
            self._loop.reason = "largest" if self._largest and self._loop.reason != "varying" else "varying"
        if self._epochs > _EPOCHS and self._left[-1] == self._left[-2]:
            self._loop.is_shortened |= place.skip_epochs(self._list_steps(place))
        batches = map(place.batch_of, self._list_steps(place))
        # Any batch will do for a step with an evaluation; the largest and the last batches are the loader's.
        landings = [it for it in batches if place.position <= it < place.batches]
        own = [it for it in (*(self._largest or ()), place.batches - 1) if it >= place.position]
        return min([*landings, *(find_landing(place.position, it, place.ahead, place.group) for it in own)])

    def _list_steps(self, place: Place) -> list[int]:
        """The steps of interest to come."""
        found = [*(due.next(place.steps) for due in (self._due or {}).values()), place.all_steps]
        return [it for it in found if it is not None and it > place.steps]

    @guarded
    def end(self) -> None:
        """The training is over."""
        self._control.stages.end_training()


def run_training(trainings: list[Training], training: Training, run: Callable[[], object]) -> object:
    """Runs a training, innermost; after an error there is no end."""
    trainings.append(training)
    try:
        answer = run()
    finally:
        trainings.pop()
    training.end()
    return answer
