"""An Optuna study of batch and width, in which no trial runs out of the GPU's memory.

    python examples/optuna_study.py                              the study, on the GPU of this machine
    python examples/optuna_study.py --gpu rtx-3060               the study for a GPU that need not be here
    python examples/optuna_study.py --batch 256 --width 4096     one training, as a trial's dry run makes it

Without a GPU no trial trains: its value is a made-up formula, and only the pruned trials mean something. Needs `pip install optuna`.
"""

import argparse
from pathlib import Path

import torch
from torch import nn


def train(batch: int, width: int, steps: int = 20) -> float:
    """Trains an MLP to copy a fixed function, and returns the last loss."""
    torch.manual_seed(0)
    teacher = nn.Linear(1024, 10).cuda()
    model = nn.Sequential(nn.Linear(1024, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(steps):
        inputs = torch.randn(batch, 1024, device="cuda")
        with torch.no_grad():
            targets = teacher(inputs)
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
    return loss.item()


def stand_in(batch: int, width: int) -> float:
    """A made-up loss for a machine without a GPU: the wider and the larger the better, so that the best trial is at the edge of memory."""
    return (width / 1024) ** -0.3 + (batch / 1024) ** -0.1


def search(gpu: str | None, trials: int) -> None:
    """Runs the study."""
    import optuna
    from oomph.tuning import Needs
    from oomph.tuning.optuna import prune_if_too_large

    needs = Needs([str(Path(__file__).resolve()), "--batch", "{batch}", "--width", "{width}"], gpu=gpu)

    def objective(trial: optuna.Trial) -> float:
        batch = trial.suggest_categorical("batch", [2**power for power in range(8, 16)])
        width = trial.suggest_int("width", 1024, 16384, step=1024)
        prune_if_too_large(trial, needs)
        return train(batch, width) if torch.cuda.is_available() else stand_in(batch, width)

    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(objective, n_trials=trials)
    states = [trial.state.name for trial in study.trials]
    print(f"{states.count('COMPLETE')} trials ran, {states.count('PRUNED')} were pruned by {len(needs)} dry runs; best {study.best_params}")


def main() -> None:
    """Trains once, or searches."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--gpu", help="the GPU of the dry runs [default: this machine's]")
    parser.add_argument("--trials", type=int, default=20)
    arguments = parser.parse_args()
    if arguments.batch:
        print("loss", train(arguments.batch, arguments.width))
    else:
        search(arguments.gpu, arguments.trials)


if __name__ == "__main__":
    main()
