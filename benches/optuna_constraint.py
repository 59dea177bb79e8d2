"""The trials that a study loses to out-of-memory errors, without a check, with a pruner, and with a constraint on the need.

    PYTHONPATH=python python benches/optuna_constraint.py [SEEDS] [--gpu NAME] [--vram SIZE]

Each study has 50 trials of `TPESampler` over batch and width of `examples/optuna_study.py`, for SEEDS seeds (default 20). No GPU is used: the verdict
of `oomph check` stands for the GPU, and a made-up loss for the training; it falls with batch and width, so a sampler is drawn to the
edge of memory. `too large` are the trials of which the verdict is oom:

- `unchecked`: they raise, as an out-of-memory error does, and Optuna counts them as failed
- `pruned`: `TrialPruned` is raised before the GPU is touched, and no constraint is set
- `constraint`: `prune_if_too_large`

The table has means over the seeds, the best loss among trials that ran, and the largest and smallest number of too large trials.
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
from oomph.tuning.optuna import prune_if_too_large
from optuna_study import stand_in

TRIALS = 50
BATCHES = [2**power for power in range(8, 16)]
WIDTHS = (1024, 8192, 1024)
ARMS = ("unchecked", "pruned", "constraint")


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


def run_study(arm: str, seed: int, needs: TimedNeeds) -> tuple[int, float]:
    """The number of too large trials of a study, and its best loss."""

    def objective(trial: optuna.Trial) -> float:
        batch, width = trial.suggest_categorical("batch", BATCHES), trial.suggest_int("width", *WIDTHS[:2], step=WIDTHS[2])
        if arm == "constraint":
            prune_if_too_large(trial, needs)
        elif not needs.find(trial.params).fits:
            raise OutOfMemory if arm == "unchecked" else optuna.TrialPruned
        return stand_in(batch, width)

    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, n_trials=TRIALS, catch=(OutOfMemory,))
    ran = [trial for trial in study.trials if trial.state is optuna.trial.TrialState.COMPLETE]
    return TRIALS - len(ran), min(trial.value for trial in ran)


def main() -> None:
    """Prints a line for each way to run the study, and the seconds of the dry runs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seeds", nargs="?", type=int, default=20)
    parser.add_argument("--gpu", default="rtx-3060")
    parser.add_argument("--vram", default="3GiB")
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    script = str(ROOT / "examples/optuna_study.py")
    needs = TimedNeeds(Needs([script, "--batch", "{batch}", "--width", "{width}"], gpu=arguments.gpu, vram=arguments.vram))
    rows = {arm: [run_study(arm, seed, needs) for seed in range(arguments.seeds)] for arm in ARMS}
    print(f"{TRIALS} trials on {arguments.gpu} with {arguments.vram}, {arguments.seeds} seeds; {len(needs.needs)} of {len(BATCHES) * 8} configurations asked")
    print(f"{'study':12} {'too large':>9} {'range':>8} {'best loss':>9}")
    for arm, studies in rows.items():
        losses, lost = [loss for _, loss in studies], [count for count, _ in studies]
        print(f"{arm:12} {statistics.mean(lost):9.1f} {f'{min(lost)}-{max(lost)}':>8} {statistics.mean(losses):9.3f}")
    for name, seconds in (("fits", needs.fitting), ("oom", needs.too_large)):
        if seconds:
            print(f"dry run, {name:4}: {len(seconds)}, median {statistics.median(seconds):.1f} s, longest {max(seconds):.1f} s")


if __name__ == "__main__":
    main()
