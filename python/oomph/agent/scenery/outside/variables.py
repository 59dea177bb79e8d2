"""Environment variables of the libraries, set in this process for its children, too, against the user's own values."""

import atexit
import os
import sys

from ...failure import guarded

_VALUES = {
    "WANDB_MODE": "disabled",
    "WANDB_ERROR_REPORTING": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "NEPTUNE_MODE": "debug",
    "COMET_ERROR_TRACKING_ENABLE": "false",
    "CLEARML_OFFLINE_MODE": "1",
}
_STORES = ("MLFLOW_TRACKING_URI", "MLFLOW_REGISTRY_URI")


def set_all() -> None:
    """Sets the variables of all libraries."""
    os.environ.update(_VALUES)
    if any(name in os.environ for name in _STORES):
        from . import mlflow_runs

        os.environ.update({name: mlflow_runs.localize(os.environ[name]) for name in _STORES if name in os.environ})
    # Before the import of ClearML: exit handlers run in reverse order, and ClearML's own writes a file.
    atexit.register(_remove_folders, os.getpid())


@guarded
def _remove_folders(owner: int) -> None:
    trackers = sys.modules.get(f"{__package__}.trackers")
    if trackers is not None and os.getpid() == owner:
        trackers.remove_folders()
