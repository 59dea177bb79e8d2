"""Logs to Trackio: a run of its own in the program's project, in one group with the program's run."""

from __future__ import annotations

import os
from typing import Any

import trackio

from .figures import Figures

# The variable of transformers' Trainer for the project.
_PROJECT, _NAME = "TRACKIO_PROJECT", "oomph"


class TrackioRun:
    """A run of Trackio."""

    errors = (OSError,)

    def __init__(self, run: trackio.Run) -> None:
        self.where = f"trackio run {run.name} of project {run.project}"
        self._run = run

    def log(self, figures: Figures) -> None:
        """Logs numbers and texts as one row."""
        self._run.log({**figures.numbers, **figures.texts})

    def close(self) -> None:
        """Writes the rest."""
        self._run.finish()


def open_run(place: str, run: dict[str, Any]) -> TrackioRun:
    """Starts a run."""
    project = place or run.get("place") or os.environ.get(_PROJECT) or _NAME
    name = f"{run['name']}-{_NAME}" if run.get("name") else None
    return TrackioRun(trackio.init(project, name=name, group=run.get("name"), embed=False, auto_log_gpu=False, auto_log_cpu=False))
