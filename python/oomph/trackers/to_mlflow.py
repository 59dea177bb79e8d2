"""Logs to MLflow: into the program's own run where one is known, else into a run of its own."""

from __future__ import annotations

import os
from typing import Any

import mlflow
from mlflow.entities import Metric
from mlflow.exceptions import MlflowException

from .figures import Figures

# Variables of MLflow.
_RUN_ID, _EXPERIMENT_NAME, _EXPERIMENT_ID = "MLFLOW_RUN_ID", "MLFLOW_EXPERIMENT_NAME", "MLFLOW_EXPERIMENT_ID"
_NAME = "oomph"


class MlflowRun:
    """A run of MLflow, through a client: nothing becomes the active run of a process."""

    errors = (MlflowException, OSError)

    def __init__(self, client: mlflow.MlflowClient, run_id: str, is_own: bool) -> None:
        self.where = f"mlflow run {run_id} of {client.tracking_uri}"
        self._client, self._run_id, self._is_own = client, run_id, is_own
        self._texts: dict[str, str] = {}

    def log(self, figures: Figures) -> None:
        """Logs numbers as metrics, and a new text as a tag."""
        millis = int(figures.time * 1000)
        metrics = [Metric(name, number, millis, figures.step) for name, number in figures.numbers.items()]
        self._client.log_batch(self._run_id, metrics)
        for name, text in figures.texts.items():
            if self._texts.get(name) != text:
                self._client.set_tag(self._run_id, name, text)
                self._texts[name] = text

    def close(self) -> None:
        """Ends the run, unless it is the program's."""
        if self._is_own:
            self._client.set_terminated(self._run_id)


def open_run(place: str, run: dict[str, Any]) -> MlflowRun:
    """Opens the program's run, or starts one in an experiment."""
    client = mlflow.MlflowClient(run.get("place") or None)
    known = run.get("run") or os.environ.get(_RUN_ID)
    if known:
        return MlflowRun(client, known, is_own=False)
    started = client.create_run(_find_experiment(client, place), run_name=_NAME)
    return MlflowRun(client, started.info.run_id, is_own=True)


def _find_experiment(client: mlflow.MlflowClient, place: str) -> str:
    """The id of the named experiment, made if it is new; else of MLflow's default."""
    name = place or os.environ.get(_EXPERIMENT_NAME)
    if not name:
        return os.environ.get(_EXPERIMENT_ID, "0")
    found = client.get_experiment_by_name(name)
    return found.experiment_id if found is not None else client.create_experiment(name)
