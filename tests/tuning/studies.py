"""Cases of Optuna: states, attributes and constraints of trials of known sizes."""

import json
from pathlib import Path

import suite
from sizes import MIB, SETTINGS, TOO_LARGE_MIB, check_need, make_needs

FITTING_MIB, FAILING_MIB = 512, -1


def import_optuna():
    """Optuna with its log off; skips the case without Optuna."""
    try:
        import optuna
    except ModuleNotFoundError as error:
        raise suite.Skip("needs optuna") from error
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    return optuna


def run_study(objective, sizes, sampler=None, catch=()):
    """Runs a study of trials with these sizes in MiB, in this order."""
    optuna = import_optuna()
    study = optuna.create_study(sampler=sampler)
    for mib in sizes:
        study.enqueue_trial({"mib": mib})
    study.optimize(objective, n_trials=len(sizes), catch=catch)
    return study


def prune() -> str:
    """a too large trial is pruned before its training, and a failed dry run fails the trial"""
    optuna = import_optuna()
    import oomph
    from oomph.tuning.optuna import prune_if_too_large

    needs, trained = make_needs(), []

    def objective(trial):
        mib = trial.suggest_int("mib", -1, 8192)
        need = prune_if_too_large(trial, needs)
        check_need(need, mib)
        trained.append(mib)
        return mib

    sizes = [FITTING_MIB, TOO_LARGE_MIB, FITTING_MIB, FAILING_MIB]
    study = run_study(objective, sizes, catch=(oomph.OomphError,))
    states = [trial.state.name for trial in study.trials]
    assert states == ["COMPLETE", "PRUNED", "COMPLETE", "FAIL"], states
    assert trained == [FITTING_MIB, FITTING_MIB] and len(needs) == 2, (trained, len(needs))
    for trial in study.trials[:3]:
        attributes = trial.user_attrs
        assert attributes["oomph_need_bytes"] + attributes["oomph_spare_bytes"] == SETTINGS["capacity"], attributes
        check_constraint(optuna, trial, attributes["oomph_need_bytes"] - SETTINGS["capacity"])
    assert "oomph_need_bytes" not in study.trials[3].user_attrs
    return f"{len(states)} trials, {len(needs)} dry runs that answered"


def check_constraint(optuna, trial, excess_bytes: int) -> None:
    """The constraint of Optuna 5 is the excess in GiB."""
    if hasattr(optuna.trial.FrozenTrial, "set_constraint"):
        assert trial.constraints == {"oomph": excess_bytes / (1 << 30)}, trial.constraints


def constrain() -> str:
    """a constraints_func asks for a trial without a recorded need, and a sampler gets the excess once"""
    optuna = import_optuna()
    import warnings

    from oomph.tuning.optuna import constraint, record_need

    needs = make_needs()

    def objective(trial):
        mib = trial.suggest_int("mib", 1, 8192)
        if trial.number > 1:
            record_need(trial, needs)
        return -mib

    with warnings.catch_warnings():
        # `constraints_func` is deprecated in Optuna 5, and experimental before.
        warnings.simplefilter("ignore")
        sampler = optuna.samplers.TPESampler(seed=0, constraints_func=constraint(needs))
    study = run_study(objective, [FITTING_MIB, TOO_LARGE_MIB, TOO_LARGE_MIB, FITTING_MIB], sampler)
    values = [list_constraints(trial) for trial in study.trials]
    excess = [needs.find({"mib": mib}).excess_bytes / (1 << 30) for mib in (FITTING_MIB, TOO_LARGE_MIB)]
    assert values == [[excess[0]], [excess[1]], [excess[1]], [excess[0]]], values
    assert excess[0] < 0 < excess[1] and len(needs) == 2, excess
    assert study.best_trial.params["mib"] == FITTING_MIB, study.best_trial.params
    return f"{excess[0]:.2f} and {excess[1]:.2f} GiB"


def list_constraints(trial) -> list[float]:
    """The constraint values of a trial, in any version of Optuna."""
    if hasattr(trial, "constraints"):
        return list(trial.constraints.values())
    return list(trial.system_attrs["constraints"])


POINTS = [
    {"params": {"mib": 64, "dtype": "bf16"}, "gpu": "NVIDIA L4", "verdict": "fits", "need_bytes": 600 * MIB, "spare_bytes": 1400 * MIB},
    {"params": {"mib": 65, "dtype": "bf16"}, "gpu": "NVIDIA L4", "verdict": "tight", "need_bytes": 2100 * MIB, "spare_bytes": -100 * MIB},
    {"params": {"mib": 96, "dtype": "bf16"}, "gpu": "NVIDIA L4", "verdict": "oom", "need_bytes": 3048 * MIB, "spare_bytes": -1024 * MIB},
    # A fragmented pool: out of memory below the capacity.
    {"params": {"mib": 97, "dtype": "fp32"}, "gpu": "NVIDIA L4", "verdict": "oom", "need_bytes": 1900 * MIB, "spare_bytes": 100 * MIB},
    {"params": {"mib": 98, "dtype": "fp32"}, "gpu": "NVIDIA L4", "verdict": "failed", "need_bytes": None, "spare_bytes": None, "error": "no such size"},
]  # fmt: skip


def read_points() -> str:
    """points of a sweep become pruned and failed trials, and a study goes on with them"""
    optuna = import_optuna()
    from oomph.tuning.optuna import to_trials

    distributions = {"mib": optuna.distributions.IntDistribution(1, 128), "dtype": optuna.distributions.CategoricalDistribution(["bf16", "fp32"])}
    file = Path("points.jsonl")
    lines = "".join(json.dumps(point) + "\n" for point in POINTS)
    file.write_text(lines + '{"params": {"mi', encoding="utf-8")
    trials = to_trials(file, distributions)
    assert [trial.state.name for trial in trials] == ["PRUNED", "PRUNED", "FAIL"], trials
    assert [list_constraints(trial) for trial in trials[:2]] == [[1.0], [2 * MIB / (1 << 30)]], trials
    assert trials[2].user_attrs == {"oomph_error": "no such size"}
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0, n_startup_trials=2))
    study.add_trials(trials)
    study.optimize(lambda trial: trial.suggest_int("mib", 1, 128) + len(trial.suggest_categorical("dtype", ["bf16", "fp32"])), n_trials=5)
    assert len(study.trials) == 8
    file.write_text(lines + json.dumps(POINTS[2] | {"gpu": "NVIDIA T4"}), encoding="utf-8")
    try:
        to_trials(file, distributions)
        raise AssertionError("the points of two GPUs were mixed")
    except ValueError as error:
        assert "give gpu= as one of NVIDIA L4, NVIDIA T4" in str(error), error
    assert len(to_trials(file, distributions, gpu="NVIDIA T4")) == 1
    return f"{len(POINTS)} points"
