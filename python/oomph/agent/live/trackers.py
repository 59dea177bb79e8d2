"""Notes the run of a tracker that the program logs to: an attribute of a library that the program has imported itself.

Nothing is called that reaches a server, and nothing is imported. The helper of `oomph run --log-to` logs to these runs, or beside them
(Note [Trackers] in `python/oomph/trackers/__init__.py`).
"""

import sys

from .. import records


class TrackerRuns:
    """The runs, each noted once."""

    def __init__(self) -> None:
        self._noted: set[str] = set()

    def list_new(self) -> list[dict]:
        """The records of runs that have begun since the last call."""
        found = []
        for library, describe in _LIBRARIES.items():
            module = sys.modules.get(library)
            if module is not None and library not in self._noted and (record := describe(module)):
                self._noted.add(library)
                found.append(record)
        return found


def _describe_wandb(wandb) -> dict | None:
    run = getattr(wandb, "run", None)
    settings = getattr(run, "settings", None)
    if settings is None:
        return None
    place = "/".join(filter(None, (settings.entity, settings.project)))
    return records.tracker(library="wandb", run=str(settings.run_id), name=settings.run_name or "", place=place)


def _describe_mlflow(mlflow) -> dict | None:
    run = mlflow.active_run() if hasattr(mlflow, "active_run") else None
    if run is None:
        return None
    return records.tracker(library="mlflow", run=run.info.run_id, name=run.info.run_name or "", place=mlflow.get_tracking_uri())


def _describe_trackio(trackio) -> dict | None:
    variables = getattr(trackio, "context_vars", None)
    run = variables.current_run.get() if variables is not None else None
    if run is None:
        return None
    return records.tracker(library="trackio", run=run.name, name=run.name, place=run.project)


_LIBRARIES = {"wandb": _describe_wandb, "mlflow": _describe_mlflow, "trackio": _describe_trackio}
