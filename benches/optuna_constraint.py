"""The trials that a study loses to out-of-memory errors, without a check, with a pruner, and with a constraint on the need.

    PYTHONPATH=python python benches/optuna_constraint.py [SEEDS] [--gpu NAME] [--vram SIZE]

Each study has 50 trials over batch and width of `examples/optuna_study.py`, for SEEDS seeds (default 20) of `TPESampler` and the first 3 of
`GPSampler`. No GPU is used: the verdict of `oomph check` stands for the GPU, and a made-up loss for the training; it falls with batch and width, so a
sampler is drawn to the edge of memory. A trial is too large if the verdict is oom:

- `unchecked`: it raises, as an out-of-memory error does, and Optuna counts it as failed
- `pruned`: `TrialPruned` is raised before the GPU is touched, and no constraint is set
- `prune_if_too_large`: the same, with the constraint
- `bad loss`: it completes with a bad loss, and no constraint is set
- `record_need`: the same, with the constraint

The table has means over the seeds, the smallest and largest number of too large trials, and the best loss among trials that ran.
"""

import argparse
import statistics
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import optuna

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))
sys.path.insert(0, str(ROOT / "examples"))

from oomph.tuning import Need, Needs
from oomph.tuning.optuna import prune_if_too_large, record_need
from optuna_study import stand_in

TRIALS = 50
BATCHES = [2**power for power in range(8, 16)]
WIDTHS = (1024, 8192, 1024)
ARMS = ("unchecked", "pruned", "prune_if_too_large", "bad loss", "record_need")
SAMPLERS = {"TPE": optuna.samplers.TPESampler, "GP": optuna.samplers.GPSampler}
# A study by a Gaussian process takes a minute.
MOST_GP_SEEDS = 3
BAD_LOSS = 3.0


class OutOfMemory(Exception):
    """The error that the trial would raise on the GPU."""


@dataclass
class TimedNeeds:
    """Needs, with the seconds of each dry run."""

    needs: Needs
    fitting: list[float] = field(default_factory=list)
    too_large: list[float] = field(default_factory=list)

    def find(self, params: dict) -> Need:
        """Returns the need; a new configuration is timed."""
        known, start = len(self.needs), time.perf_counter()
        need = self.needs.find(params)
        if len(self.needs) > known:
            seconds = time.perf_counter() - start
            (self.fitting if need.fits else self.too_large).append(seconds)
            print(f"{len(self.needs):4} {params} {need.verdict} {seconds:.1f} s", file=sys.stderr, flush=True)
        return need


def run_study(sampler: str, arm: str, seed: int, needs: TimedNeeds) -> tuple[int, float]:
    """The number of too large trials of a study, and its best loss."""

    def objective(trial: optuna.Trial) -> float:
        batch, width = trial.suggest_categorical("batch", BATCHES), trial.suggest_int("width", *WIDTHS[:2], step=WIDTHS[2])
        if arm == "prune_if_too_large":
            prune_if_too_large(trial, needs)
        elif arm == "record_need":
            if not record_need(trial, needs).fits:
                return BAD_LOSS
        elif not needs.find(trial.params).fits:
            if arm == "bad loss":
                return BAD_LOSS
            raise OutOfMemory if arm == "unchecked" else optuna.TrialPruned
        return stand_in(batch, width)

    study = optuna.create_study(sampler=SAMPLERS[sampler](seed=seed))
    study.optimize(objective, n_trials=TRIALS, catch=(OutOfMemory,))
    ran = [trial.value for trial in study.trials if trial.state is optuna.trial.TrialState.COMPLETE and trial.value != BAD_LOSS]
    return TRIALS - len(ran), min(ran)


def main() -> None:
    """Prints a line for each way to run the study, and the seconds of the dry runs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seeds", nargs="?", type=int, default=20)
    parser.add_argument("--gpu", default="rtx-3060")
    parser.add_argument("--vram", default="1536MiB")
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    script = str(ROOT / "examples/optuna_study.py")
    needs = TimedNeeds(Needs([script, "--batch", "{batch}", "--width", "{width}"], gpu=arguments.gpu, vram=arguments.vram))
    print(f"{TRIALS} trials on {arguments.gpu} with {arguments.vram}, {arguments.seeds} seeds")
    print(f"{'sampler':8}{'study':20}{'too large':>9} {'range':>8} {'best loss':>9}")
    for sampler in SAMPLERS:
        seeds = min(arguments.seeds, MOST_GP_SEEDS) if sampler == "GP" else arguments.seeds
        for arm in ARMS:
            studies = [run_study(sampler, arm, seed, needs) for seed in range(seeds)]
            losses, lost = [loss for _, loss in studies], [count for count, _ in studies]
            spread = f"{min(lost)}-{max(lost)}"
            print(f"{sampler:8}{arm:20}{statistics.mean(lost):9.1f} {spread:>8} {statistics.mean(losses):9.3f}", flush=True)
    for name, seconds in (("fits", needs.fitting), ("oom", needs.too_large)):
        if seconds:
            print(f"dry run, {name:4}: {len(seconds)} of {len(needs.needs)}, median {statistics.median(seconds):.1f} s, longest {max(seconds):.1f} s")


if __name__ == "__main__":
    main()
