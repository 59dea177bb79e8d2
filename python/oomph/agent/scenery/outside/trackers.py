"""Comet, Neptune and ClearML: runs that are disabled, or are removed at the end."""

import functools
import os
import shutil
import sys
from collections.abc import Callable

from ...failure import guarded
from . import acts

# ClearML's folders of this process's runs.
_folders: set[str] = set()


def _change_comet() -> None:
    comet = sys.modules["comet_ml"]
    acts.suppress(comet, ["init", "login", "init_onprem"], "comet_ml", action=acts.CHANGE)
    for name in ("Experiment", "OfflineExperiment"):
        kind = getattr(comet, name, None)
        if kind is not None:
            acts.force(kind, "__init__", "comet_ml", disabled=True)
    acts.replace(comet, "start", lambda original: functools.partial(_start_comet, original))


def _start_comet(original: Callable, *args, **kwargs):
    """`comet_ml.start` asks the server for experiments."""
    return original(*args, **kwargs) if acts.is_online() else sys.modules["comet_ml"].Experiment(disabled=True)


def _change_neptune() -> None:
    neptune = sys.modules["neptune"]
    for name in ("Run", "Model", "ModelVersion", "Project"):
        kind = getattr(neptune, name, None)
        if kind is not None:
            # No run of the server can be resumed.
            resumed = {"with_id": None} if name == "Run" else {}
            acts.force(kind, "__init__", "neptune", lambda arguments: arguments.get("mode") == "read-only", mode="debug", **resumed)


def _change_clearml() -> None:
    task = sys.modules["clearml"].Task
    acts.replace(task, "set_offline", lambda original: lambda *args, **kwargs: original(*args, **kwargs) if acts.is_online() else None)
    set_offline = task.set_offline.__wrapped__
    acts.replace(task, "init", lambda original: functools.partial(_start_clearml, original, set_offline))


def _start_clearml(original: Callable, set_offline: Callable, *args, **kwargs):
    if acts.is_online():
        return original(*args, **kwargs)
    acts.note("clearml", acts.RUN)
    set_offline(True)
    task = original(*args, **kwargs)
    folder = guarded(task.get_offline_mode_folder)()
    if folder is not None:
        _folders.add(str(folder))
    return task


def remove_folders() -> None:
    """ClearML keeps a run as a folder and as a zip file, to be sent later."""
    for folder in _folders:
        shutil.rmtree(folder, ignore_errors=True)
        if os.path.exists(folder + ".zip"):
            os.remove(folder + ".zip")


HOOKS = {"comet_ml": _change_comet, "neptune": _change_neptune, "clearml": _change_clearml}
