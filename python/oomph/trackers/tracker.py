"""The trackers: the library of each, and the functions that every one of them has."""

from __future__ import annotations

import importlib
from typing import Any, Protocol

from .figures import Figures

# The runs that the program logs to, by library: records of the agent.
ProgramRuns = dict[str, dict[str, Any]]


class Tracker(Protocol):
    """An open run of a tracker."""

    # The run, in words for the last line of `oomph run`.
    where: str
    # The exceptions of the library that a single call may raise, and that the next call may not.
    errors: tuple[type[Exception], ...]

    def log(self, figures: Figures) -> None:
        """Logs the figures of one moment."""

    def close(self) -> None:
        """Flushes the figures, and ends the run unless it is the program's."""


def load(name: str) -> Any:
    """Our module of a tracker, which imports the library: module and package have the tracker's name."""
    return importlib.import_module(f"{__package__}.to_{name}")


def open_tracker(name: str, place: str, runs: ProgramRuns) -> Tracker:
    """Opens a run."""
    opened: Tracker = load(name).open_run(place, runs.get(name, {}))
    return opened
