"""Logs to Weights & Biases: a run of its own in the program's project and group, or the program's own run in shared mode.

Two processes can add to one run only in wandb's shared mode (`WANDB_MODE=shared`). In any other mode a second process would overwrite rows of
the first process.
"""

from __future__ import annotations

import os
from typing import Any

import wandb

from .figures import PREFIX, Figures

# Variables of wandb.
_RUN_ID, _MODE, _SHARED = "WANDB_RUN_ID", "WANDB_MODE", "shared"
# Variables by which `init` would continue the run or the sweep of the program.
_OF_THE_PROGRAM = ("WANDB_RESUME", "WANDB_SWEEP_ID")
_NAME, _STEPS = "oomph", PREFIX + "steps"


class WandbRun:
    """A run of wandb."""

    errors = (wandb.errors.Error, OSError)

    def __init__(self, run: wandb.Run) -> None:
        self._run = run
        # The address, or the folder of an offline run.
        self.where = f"wandb run {run.settings.sync_dir if run.offline else run.url}"
        run.define_metric(PREFIX + "*", step_metric=_STEPS)

    def log(self, figures: Figures) -> None:
        """Logs numbers and texts as one row."""
        self._run.log({**figures.numbers, **figures.texts})

    def close(self) -> None:
        """Sends the rest."""
        self._run.finish()


def open_run(place: str, run: dict[str, Any]) -> WandbRun:
    """Starts a run."""
    if os.environ.get(_MODE) == _SHARED and (known := run.get("run") or os.environ.get(_RUN_ID)):
        return WandbRun(wandb.init(id=known, **_split(place or run.get("place", "")), settings=_settings(mode=_SHARED)))
    # The variable names the program's run, and a second `init` would take it.
    program = os.environ.pop(_RUN_ID, None) or run.get("run")
    for variable in _OF_THE_PROGRAM:
        os.environ.pop(variable, None)
    name = f"{run['name']}-{_NAME}" if run.get("name") else None
    own = wandb.init(
        **_split(place or run.get("place", "")), name=name, group=os.environ.get("WANDB_RUN_GROUP") or program, job_type=_NAME, settings=_settings(),
    )  # fmt: skip
    return WandbRun(own)


def _split(place: str) -> dict[str, str]:
    """The entity and the project of `ENTITY/PROJECT` or `PROJECT`, as far as they are known."""
    entity, _, project = place.rpartition("/")
    return {key: value for key, value in (("entity", entity), ("project", project)) if value}


def _settings(**more: str) -> wandb.Settings:
    """Of this process nothing is recorded but the figures. A shared run ends with its first process, not with this one."""
    return wandb.Settings(
        silent=True, console="off", disable_git=True, save_code=False, x_disable_stats=True, x_disable_meta=True, x_label=_NAME,
        x_primary=not more, x_update_finish_state=not more, **more,
    )  # fmt: skip
