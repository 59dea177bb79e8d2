"""Optuna: a constraint and a pruner by the memory that a trial needs, and trials made of the points of a sweep.

`prune_if_too_large` alone suffices from Optuna 5 on, which has `Trial.set_constraint`. Earlier samplers take a `constraints_func`: `constraint`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..command import OomphError
from .need import Need, Needs

try:
    import optuna
except ModuleNotFoundError as error:
    if error.name != "optuna":
        raise
    raise ModuleNotFoundError("oomph.tuning.optuna needs Optuna: `pip install optuna`", name="optuna") from error

__all__ = ["CONSTRAINT", "constraint", "prune_if_too_large", "record_need", "to_trials"]

#: The name of the constraint in Optuna 5.
CONSTRAINT = "oomph"
_NEED, _SPARE, _EXCESS = "oomph_need_bytes", "oomph_spare_bytes", "oomph_excess_bytes"
# Samplers add up the violations of all constraints. A number of bytes would drown a constraint of another kind.
_GIB = float(1 << 30)
# A dry run ends at 4 TiB: the error of such a program has no figures.
_BEYOND = "program_ran_out"
_BEYOND_BYTES = 4 << 40
_HAS_NAMED_CONSTRAINTS = hasattr(optuna.trial.FrozenTrial, "set_constraint")


def prune_if_too_large(trial: optuna.trial.Trial, needs: Needs) -> Need:
    """Prunes a trial that does not fit the GPU, before the GPU is touched. Call it after the last `suggest`, before the first tensor.

    Records the need as `record_need` does, and returns it. Raises `optuna.TrialPruned` with the first sentence of the report,
    and `OomphError` if the program itself failed: `study.optimize(..., catch=(oomph.OomphError,))` goes on after such a trial.
    """
    try:
        need = record_need(trial, needs)
    except OomphError as error:
        if error.kind != _BEYOND:
            raise
        _record_excess(trial, _BEYOND_BYTES)
        raise optuna.TrialPruned(error.message) from error
    if not need.fits:
        raise optuna.TrialPruned(need.summary)
    return need


def record_need(trial: optuna.trial.Trial, needs: Needs) -> Need:
    """Finds the need of a trial's parameters, by a dry run of seconds if the configuration is new.

    The user attributes `oomph_need_bytes`, `oomph_spare_bytes` and `oomph_excess_bytes` are set, and from Optuna 5 on the constraint
    `oomph`, in GiB: the need less the device's memory. Raises `OomphError` if the program failed.
    """
    need = needs.find(trial.params)
    trial.set_user_attr(_NEED, need.need_bytes)
    trial.set_user_attr(_SPARE, need.spare_bytes)
    _record_excess(trial, need.excess_bytes)
    return need


def _record_excess(trial: optuna.trial.Trial, excess_bytes: int) -> None:
    trial.set_user_attr(_EXCESS, excess_bytes)
    # Optuna warns of a constraint that is set twice.
    if _HAS_NAMED_CONSTRAINTS and CONSTRAINT not in trial.constraints:
        trial.set_constraint(CONSTRAINT, excess_bytes / _GIB)


def constraint(needs: Needs) -> Callable[[optuna.trial.FrozenTrial], Sequence[float]]:
    """Returns a function for `TPESampler(constraints_func=...)`, which Optuna calls after each completed or pruned trial.

    The function returns the need less the device's memory, in GiB: positive if the trial does not fit. A trial with a recorded need makes no
    dry run. Optuna 5 warns that `constraints_func` is deprecated; there, `record_need` or `prune_if_too_large` in the objective sets the constraint,
    and the function returns nothing for such a trial, so that no violation counts twice.
    """

    def measure_excess(trial: optuna.trial.FrozenTrial) -> Sequence[float]:
        if _HAS_NAMED_CONSTRAINTS and CONSTRAINT in trial.constraints:
            return ()
        if _EXCESS in trial.user_attrs:
            return (trial.user_attrs[_EXCESS] / _GIB,)
        return (needs.find(trial.params).excess_bytes / _GIB,)

    return measure_excess


def to_trials(
    path: str | os.PathLike[str], distributions: Mapping[str, optuna.distributions.BaseDistribution], *, gpu: str | None = None
) -> list[optuna.trial.FrozenTrial]:
    """Makes trials of the file `points.jsonl` of `oomph sweep --out DIR`, for `study.add_trials`. No dry run is made.

    A point that does not fit becomes a pruned trial with its constraint, and a program that failed a failed trial. Points that fit are left out:
    Optuna has no state for a trial without a value that is no worse than others. `gpu` names the GPU of a sweep over several.

    Raises `ValueError` for a file of several GPUs without `gpu`, and for a point outside of the distributions.
    """
    points = list(_read_points(path))
    if gpu is not None:
        points = [point for point in points if point.get("gpu") == gpu]
    names = sorted({str(point.get("gpu")) for point in points})
    if len(names) > 1:
        raise ValueError(f"`{os.fspath(path)}` has points of several GPUs: give gpu= as one of {', '.join(names)}")
    return [_to_trial(point, distributions) for point in points if point["verdict"] in ("oom", "failed")]


def _read_points(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    with open(path, encoding="utf-8") as file:
        for line in file:
            try:
                yield json.loads(line)
            except ValueError:
                # The last line of a sweep that was killed may be cut.
                if line.endswith("\n"):
                    raise


def _to_trial(point: Mapping[str, Any], distributions: Mapping[str, optuna.distributions.BaseDistribution]) -> optuna.trial.FrozenTrial:
    given: dict[str, Any] = {"params": dict(point["params"]), "distributions": dict(distributions)}
    if point["verdict"] == "failed":
        return optuna.trial.create_trial(state=optuna.trial.TrialState.FAIL, user_attrs={"oomph_error": point.get("error")}, **given)
    need = Need(point["need_bytes"], point["spare_bytes"], "oom", "")
    given["user_attrs"] = {_NEED: need.need_bytes, _SPARE: need.spare_bytes, _EXCESS: need.excess_bytes}
    if _HAS_NAMED_CONSTRAINTS:
        given["constraints"] = {CONSTRAINT: need.excess_bytes / _GIB}
    else:
        # `_CONSTRAINTS_KEY` of optuna/samplers/_base.py, 3.0 to 4.x, which has no public name for it.
        given["system_attrs"] = {"constraints": [need.excess_bytes / _GIB]}
    return optuna.trial.create_trial(state=optuna.trial.TrialState.PRUNED, **given)
