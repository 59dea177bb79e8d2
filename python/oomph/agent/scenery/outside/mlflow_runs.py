"""MLflow: a local temporary store in place of a server or of a database of others."""

import atexit
import os
import pathlib
import shutil
import sys
import tempfile

from . import acts

_LIBRARY = "mlflow"
# Runs and experiments of a server, which are absent from the temporary store.
_RESUMED = ("MLFLOW_RUN_ID", "MLFLOW_EXPERIMENT_ID")
# Schemes of stores on this machine.
_LOCAL = ("file:", "sqlite:")
# The folders of temporary stores; of this process at most one.
_folders: list[str] = []


def _is_remote(uri: object) -> bool:
    """True for the address of a server, of Databricks or of a database; a path is none."""
    text = str(uri or "")
    is_address = "://" in text or text.split(":")[0] in ("databricks", "databricks-uc", "uc")
    return is_address and not isinstance(uri, pathlib.Path) and not text.startswith(_LOCAL)


def _temporary_uri() -> str:
    if not _folders:
        _folders.append(tempfile.mkdtemp(prefix="mlflow-"))
        atexit.register(_remove, _folders[0], os.getpid())
        for name in _RESUMED:
            os.environ.pop(name, None)
        # MLflow 3.17 refuses a store in files otherwise; a store in a database takes seconds to make.
        os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    return pathlib.Path(_folders[0]).as_uri()


def _remove(folder: str, owner: int) -> None:
    """Removes the store at the end of the process that made it; a forked child inherits the exit handler."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def localize(uri):
    """The temporary store for the address of a server; any other address as given."""
    return _temporary_uri() if _is_remote(uri) and not acts.is_online() else uri


def _set_local(call, uri, *args, **kwargs):
    return call(localize(uri), *args, **kwargs)


def _make_local(call, client, *args, **kwargs):
    return call(client, *map(localize, args), **{key: localize(value) for key, value in kwargs.items()})


def _count_run(call, client, *args, **kwargs):
    if _is_temporary(getattr(client, "tracking_uri", "")):
        acts.note(_LIBRARY, acts.RUN)
    return call(client, *args, **kwargs)


def _is_temporary(uri: object) -> bool:
    return bool(_folders) and str(uri) == _temporary_uri()


def _start_anew(call, run_id=None, *args, **kwargs):
    """A run to be resumed is in the server's store only; the temporary store gets a new run."""
    mlflow = sys.modules["mlflow"]
    if run_id is not None and _is_temporary(mlflow.get_tracking_uri()) and not _has_run(mlflow, run_id):
        run_id = None
    return call(run_id, *args, **kwargs)


def _has_run(mlflow, run_id: str) -> bool:
    try:
        return mlflow.get_run(run_id) is not None
    except Exception:
        return False


LAYERS = {
    "mlflow:set_tracking_uri": _set_local,
    "mlflow:set_registry_uri": _set_local,
    "mlflow:MlflowClient.__init__": _make_local,
    "mlflow:MlflowClient.create_run": _count_run,
    "mlflow:start_run": _start_anew,
    "mlflow:login": acts.suppress(_LIBRARY, action=acts.CHANGE),
}
