"""Comet, Neptune and ClearML: runs that are disabled, or are removed at the end."""

import os
import shutil
import sys

from ...failure import guarded
from . import acts

# ClearML's folders of this process's runs.
_folders: set[str] = set()


def _start_comet(_call, *args, **kwargs):
    """`comet_ml.start` asks the server for experiments."""
    return sys.modules["comet_ml"].Experiment(disabled=True)


def _set_clearml_offline(call, kind, offline_mode=False):
    return call(kind, offline_mode or not acts.is_online())


def _start_clearml(call, kind, *args, **kwargs):
    acts.note("clearml", acts.RUN)
    kind.set_offline(True)
    task = call(kind, *args, **kwargs)
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


_comet = acts.suppress("comet_ml", action=acts.CHANGE)
_experiment = acts.force("comet_ml", disabled=True)
_neptune = acts.force("neptune", lambda arguments: arguments.get("mode") == "read-only", mode="debug")
LAYERS = {
    "comet_ml:init": _comet,
    "comet_ml:login": _comet,
    "comet_ml:init_onprem": _comet,
    "comet_ml:Experiment.__init__": _experiment,
    "comet_ml:OfflineExperiment.__init__": _experiment,
    "comet_ml:start": acts.unless_online(_start_comet),
    # No run of the server can be resumed.
    "neptune:Run.__init__": acts.force("neptune", lambda arguments: arguments.get("mode") == "read-only", mode="debug", with_id=None),
    "neptune:Model.__init__": _neptune,
    "neptune:ModelVersion.__init__": _neptune,
    "neptune:Project.__init__": _neptune,
    "clearml:Task.set_offline": _set_clearml_offline,
    "clearml:Task.init": acts.unless_online(_start_clearml),
}
