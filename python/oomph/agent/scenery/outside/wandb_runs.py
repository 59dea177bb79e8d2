"""Weights & Biases, disabled: a run without files and without a login."""

import itertools
import sys

from ...failure import guarded
from ...hooks import innermost
from ...hooks.replacing import Layer
from . import acts

_LIBRARY = "wandb"
_numbers = itertools.count()
# The configurations of the program's own sweeps, by their invented ids.
_sweeps: dict[str, dict] = {}
# The choices for the runs of a sweep, while its agent runs.
_chosen: list[dict] = []


def _start_disabled(call, *args, **kwargs):
    acts.note(_LIBRARY, acts.RUN)
    args, kwargs = acts.with_arguments(innermost(call), args, kwargs, {"mode": "disabled"})
    run = call(*args, **kwargs)
    for choices in _chosen:
        run.config.update(choices, allow_val_change=True)
    return run


def _count(action: str) -> Layer:
    def layer(call, *args, **kwargs):
        acts.note(_LIBRARY, action)
        return call(*args, **kwargs)

    return layer


def _log(_call, run, data=None, *args, **kwargs) -> None:
    """Counts a message. The library's disabled run keeps all values, and a tensor would keep its graph; a real run keeps numbers."""
    acts.note(_LIBRARY, acts.MESSAGE)
    _summarize(run, data)


@guarded
def _summarize(run, data) -> None:
    numbers = {key: _as_number(value) for key, value in dict(data or {}).items()}
    run.summary.update({key: value for key, value in numbers.items() if value is not None})


def _as_number(value):
    """The value as a Python object without a tensor; `None` for any other value."""
    is_scalar = getattr(value, "shape", None) is not None and getattr(value, "size", None) is not None and not tuple(value.shape)
    value = value.item() if is_scalar else value
    return value if isinstance(value, (bool, int, float, str)) else None


def _use_artifact(_call, run, artifact_or_name, type=None, *args, **kwargs):
    """Reads an artifact without recording the use. The library's disabled run returns `None`, which has no files."""
    if not isinstance(artifact_or_name, str):
        return artifact_or_name
    place = {"entity": run.entity, "project": run.project}
    api = sys.modules["wandb"].Api(overrides={key: value for key, value in place.items() if value and value != "dummy"})
    return api.artifact(artifact_or_name, type=type)


def _wait_only_if_logged(call, artifact, *args, **kwargs):
    return artifact if artifact.is_draft() else call(artifact, *args, **kwargs)


def _name_sweep(sweep, *args, **kwargs) -> str:
    name = f"sweep{next(_numbers)}"
    _sweeps[name] = sweep() if callable(sweep) else sweep
    return name


def _run_once(_call, sweep_id, function=None, *args, **kwargs) -> None:
    """An agent asks the server for choices, in turn. The stand-in calls the program's function once, with the first choices."""
    acts.note(_LIBRARY, acts.CHANGE)
    if function is None:
        return
    _chosen[:] = [guarded(_choose)(sweep_id) or {}]
    try:
        function()
    finally:
        _chosen.clear()


def _choose(sweep_id: str) -> dict:
    """The first choice of each parameter of a sweep, which is read from the server if the program did not make it."""
    config = _sweeps.get(sweep_id) or sys.modules["wandb"].Api().sweep(sweep_id).config
    return _choose_parameters(config.get("parameters", {}))


def _choose_parameters(parameters: dict) -> dict:
    choices = {}
    for name, row in parameters.items():
        if "parameters" in row:
            choices[name] = _choose_parameters(row["parameters"])
        elif "values" in row:
            choices[name] = row["values"][0]
        else:
            choices[name] = row.get("value", row.get("min", row.get("mu")))
    return choices


LAYERS = {
    "wandb:init": acts.unless_online(_start_disabled),
    "wandb:login": acts.unless_online(lambda _call, *args, **kwargs: True),
    "wandb:sweep": acts.suppress(_LIBRARY, _name_sweep, acts.CHANGE),
    "wandb:agent": acts.unless_online(_run_once),
    "wandb:Artifact.wait": acts.unless_online(_wait_only_if_logged),
    "wandb.sdk.lib.noop_run:NoopRun.log": _log,
    "wandb.sdk.lib.noop_run:NoopRun.use_artifact": _use_artifact,
    "wandb.sdk.lib.noop_run:NoopRun.log_artifact": _count(acts.UPLOAD),
    "wandb.sdk.lib.noop_run:NoopRun.log_model": _count(acts.UPLOAD),
    "wandb.sdk.lib.noop_run:NoopRun.save": _count(acts.UPLOAD),
    "wandb.sdk.lib.noop_run:NoopRun.alert": _count(acts.MESSAGE),
}
