"""Weights & Biases, disabled: a run without files and without a login."""

import functools
import itertools
import sys
from collections.abc import Callable

from ...failure import guarded
from . import acts

_LIBRARY = "wandb"
_numbers = itertools.count()
# The configurations of the program's own sweeps, by their invented ids.
_sweeps: dict[str, dict] = {}
# The choices for the runs of a sweep, while its agent runs.
_chosen: list[dict] = []


def _change() -> None:
    wandb = sys.modules["wandb"]
    for name in ("wandb", "wandb.sdk", "wandb.sdk.wandb_init"):
        acts.replace(sys.modules.get(name), "init", _start_disabled)
    acts.replace(wandb, "login", lambda original: lambda *args, **kwargs: original(*args, **kwargs) if acts.is_online() else True)
    acts.suppress(wandb, ["sweep"], _LIBRARY, _name_sweep, acts.CHANGE)
    acts.replace(wandb, "agent", _run_once)
    acts.replace(getattr(wandb, "Artifact", None), "wait", _wait_only_if_logged)


def _start_disabled(original: Callable) -> Callable:
    def stand_in(*args, **kwargs):
        if acts.is_online():
            return original(*args, **kwargs)
        acts.note(_LIBRARY, acts.RUN)
        args, kwargs = acts.with_arguments(original, args, kwargs, {"mode": "disabled"})
        run = original(*args, **kwargs)
        _change_run(run)
        return run

    return stand_in


@guarded
def _change_run(run) -> None:
    wandb = sys.modules["wandb"]
    for choices in _chosen:
        run.config.update(choices, allow_val_change=True)
    run.log = wandb.log = functools.partial(_log, run)
    run.use_artifact = wandb.use_artifact = functools.partial(_use_artifact, run)
    for name in ("log_artifact", "log_model", "save", "alert"):
        action = acts.MESSAGE if name == "alert" else acts.UPLOAD
        counted = _count(getattr(run, name), action)
        setattr(run, name, counted)
        setattr(wandb, name, counted)


def _count(function: Callable, action: str) -> Callable:
    @functools.wraps(function)
    def stand_in(*args, **kwargs):
        acts.note(_LIBRARY, action)
        return function(*args, **kwargs)

    return stand_in


def _log(run, data=None, *args, **kwargs) -> None:
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


def _use_artifact(run, artifact_or_name, type=None, *args, **kwargs):
    """Reads an artifact without recording the use. The library's disabled run returns `None`, which has no files."""
    if not isinstance(artifact_or_name, str):
        return artifact_or_name
    place = {"entity": run.entity, "project": run.project}
    api = sys.modules["wandb"].Api(overrides={key: value for key, value in place.items() if value and value != "dummy"})
    return api.artifact(artifact_or_name, type=type)


def _wait_only_if_logged(original: Callable) -> Callable:
    def stand_in(self, *args, **kwargs):
        return original(self, *args, **kwargs) if acts.is_online() or not self.is_draft() else self

    return stand_in


def _name_sweep(sweep, *args, **kwargs) -> str:
    name = f"sweep{next(_numbers)}"
    _sweeps[name] = sweep() if callable(sweep) else sweep
    return name


def _run_once(original: Callable) -> Callable:
    """An agent asks the server for choices, in turn. The stand-in calls the program's function once, with the first choices."""

    def stand_in(sweep_id, function=None, *args, **kwargs):
        if acts.is_online():
            return original(sweep_id, function, *args, **kwargs)
        acts.note(_LIBRARY, acts.CHANGE)
        if function is not None:
            _chosen[:] = [guarded(_choose)(sweep_id) or {}]
            try:
                function()
            finally:
                _chosen.clear()

    return stand_in


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


HOOKS = {"wandb": _change}
