"""Finds the number that sets a size of the program (batch, sequence, image), and changes it.

Note [Sizes]
~~~~~~~~~~~~
A program sets its batch size in one place, and the number travels from there: an option of the command line, an argument of a library, a
constant, a DataLoader. Each such place is a *candidate*, reported by a part of this package (`Scaling.meet`); the answer is the size to
use. The deciding candidate is chosen when the program has ended:

1. the candidate named by the setting `arg`;
2. an option, a library's argument or a constant whose size the DataLoader's batch or the model's input has;
3. the DataLoader;
4. any other option, argument or constant.

While the program runs, nobody knows yet if the first candidate will be followed. So without `arg`, each candidate that looks like the
training batch is set to the wanted size, even a candidate that has the size already by following another; a DataLoader keeps its size if it
looks like a loader for evaluation, or if the program computed the size from a changed size. The result is checked against the input of the
model.

A constant bound once by the script, at module level, with another value at the program's end, was overridden from elsewhere: `exec` of a
configuration file, `globals()`. Such a constant decides nothing.
"""

import dataclasses
import sys
from collections.abc import Callable

from ... import records
from ...process import frames
from .. import Remedy
from ..actions import find_size, keep_size, set_size
from . import names

# In the order of Note [Sizes], point 2.
_FOLLOWED = ("option", "training-arguments", "tokenizer", "transform", "constant")


@dataclasses.dataclass
class Candidate:
    """A place that may decide the size."""

    source: str
    name: str
    size: int
    file: str
    line: int
    # True if it belongs to the training data; a size for evaluation is reported and unchanged.
    is_training: bool = True
    # A variable of the main script that the script alone binds.
    variable: str | None = None
    scaled: int | None = None

    def overridden(self) -> int | None:
        """The variable's value at present, if other code has bound the variable since."""
        now = vars(sys.modules["__main__"]).get(self.variable) if self.variable else None
        is_other = isinstance(now, int) and now != (self.size if self.scaled is None else self.scaled)
        return now if is_other else None


class Scaling:
    """The candidates of one remedy."""

    def __init__(self, remedy: Remedy, what: str, setting: str, rank: Callable[[str], int | None]) -> None:
        self.remedy = remedy
        self.what = what
        # Ranks a name by its likelihood to be this size, 0 first; `None` for other names.
        self.rank = rank
        self.arg: str | None = remedy.settings.get("arg")
        self.wanted = _wanted(remedy.settings, setting)
        self.candidates: list[Candidate] = []
        # The shape of the first tensor in training.
        self.shape: tuple[int, ...] | None = None
        remedy.at_end.append(self._finish)

    def meet(
        self,
        source: str,
        name: str,
        size: int,
        *,
        at: tuple[str, int] | None = None,
        is_training: bool = True,
        variable: str | None = None,
    ) -> int:
        """A candidate; the size to use there."""
        file, line = at or frames.users_line(sys._getframe(1))
        known = next((one for one in self.candidates if (one.source, one.name, one.line) == (source, name, line)), None)
        found = known or Candidate(source, name, size, file, line, is_training, variable)
        if known is None:
            self.candidates.append(found)
        if not self._is_meant(found, size):
            self._tell(found, size)
            return size
        found.scaled = self.wanted
        self._tell(found, size)
        return found.scaled

    def is_named(self, name: str) -> bool:
        """True if the setting `arg` is this name."""
        return self.arg is not None and names.plain(self.arg) == names.plain(name)

    def has_scaled(self) -> bool:
        """True if a candidate was changed so far."""
        return any(one.scaled is not None for one in self.candidates)

    def was(self, size: int) -> bool:
        """True if a changed candidate had this size."""
        return any(one.scaled is not None and one.size == size for one in self.candidates)

    def _is_meant(self, found: Candidate, size: int) -> bool:
        if self.wanted is None or size == self.wanted:
            return False
        return self.is_named(found.name) if self.arg is not None else found.is_training

    def _tell(self, found: Candidate, size: int) -> None:
        at = (found.file, found.line)
        if found.scaled is not None:
            action = set_size(found.name, found.scaled, size)
            self.remedy.applied(f"{found.name} is {found.scaled} instead of {size}", at, action=action)
        elif self.wanted is None:
            other = "" if found.is_training else f", which is not taken for the {self.what} of training"
            self.remedy.applied(f"{found.name} is {size}{other}", at, action=find_size(found.name, size))

    def _finish(self) -> None:
        """At the program's end: reports the deciding candidate, or asks for an option's name."""
        overridden = [(one, now) for one in self.candidates if (now := one.overridden()) is not None]
        self.candidates = [one for one in self.candidates if one.overridden() is None]
        if overridden and not self.candidates:
            self._tell_overridden(*overridden[0])
            return
        chosen = self._chosen()
        if chosen is None:
            self._ask()
            return
        record = records.batch(
            remedy=self.remedy.name,
            source=chosen.source,
            name=chosen.name,
            file=chosen.file,
            line=chosen.line,
            size=chosen.size,
            scaled=chosen.scaled,
        )
        self.remedy.write(record)
        self._check(chosen)

    def _chosen(self) -> Candidate | None:
        """See Note [Sizes]."""
        if self.arg is not None:
            return next((one for one in self.candidates if self.is_named(one.name)), None)
        candidates = sorted((one for one in self.candidates if one.is_training), key=self._likelihood)
        followed = (one for one in candidates if one.source in _FOLLOWED and self._is_followed(one))
        loaders = (one for one in candidates if one.source == "loader")
        return next(followed, None) or next(loaders, None) or next(iter(candidates), None)

    def _likelihood(self, one: Candidate) -> tuple[int, int]:
        order = _FOLLOWED.index(one.source) if one.source in _FOLLOWED else len(_FOLLOWED)
        return order, self.rank(one.name) or 0

    def _is_followed(self, one: Candidate) -> bool:
        """True if a DataLoader or the model's input has its size, or if the program has neither."""
        size = one.size if one.scaled is None else one.scaled
        loaders = [loader.size for loader in self.candidates if loader.source == "loader" and loader.is_training]
        return size in loaders or size in (self.shape or ()) or (not loaders and self.shape is None)

    def _tell_overridden(self, one: Candidate, now: int) -> None:
        self.remedy.rejected(
            f"{one.name} is {one.size} in the script and {now} when it runs: something else sets it, such as a configuration file",
            at=(one.file, one.line),
        )

    def _ask(self) -> None:
        given = f"; the model is given {'x'.join(map(str, self.shape))} values" if self.shape else ""
        if self.arg is not None:
            self.remedy.rejected(f"nothing named {self.arg} was found that is a number{given}", at=("", 0))
        elif self.candidates:
            met = ", ".join(sorted({f"{one.name} is {one.size}" for one in self.candidates}))
            self.remedy.rejected(f"only evaluation was found to have {self.what} ({met}); name another with --batch-arg", at=("", 0))
        else:
            self.remedy.rejected(
                f"no {self.what} was found: no option, argument, DataLoader or constant is named like one{given}; "
                "name the option or the variable that sets it with --batch-arg",
                at=("", 0),
            )

    def _check(self, chosen: Candidate) -> None:
        """Reports a change that did not reach the model."""
        if self.wanted is None:
            return
        if self.wanted == chosen.size:
            action = keep_size(chosen.name, chosen.size)
            self.remedy.applied(f"{chosen.name} is {chosen.size} already", at=(chosen.file, chosen.line), action=action)
        elif self.shape is not None and self.wanted not in self.shape and chosen.size in self.shape:
            self.remedy.rejected(f"{chosen.name} does not reach the model: it is still given {'x'.join(map(str, self.shape))} values")


def _wanted(settings: dict, setting: str) -> int | None:
    """The size to use; `None` if candidates are only reported."""
    if settings.get("probe"):
        return None
    wanted = settings.get(setting)
    if not isinstance(wanted, int) or isinstance(wanted, bool) or wanted < 1:
        raise ValueError(f"the setting {setting} is {wanted!r}, expected a number from 1 on, or probe=true")
    return wanted
