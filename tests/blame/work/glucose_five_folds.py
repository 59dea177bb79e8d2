# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "earlier-model"
# first_finding = ["earlier-model-alive"]
# lines = [23, 36, 37, 46, 47, 54, 56]
# saves_mib = 5120
# why = "a fold's model is 20 x 2048^2 x 4 B = 320 MiB, with gradients and two moments 1280 MiB, which stay in `runs`; the fifth fold would end at 5 x 1280 + 320 for the step = 6720 + 410 of 6144 MiB, one alone needs 1600"
# ///
"""Five-fold cross-validation of a glucose forecast; the fold with the best loss is picked at the end."""

import torch
from torch import nn

WIDTH = 2048


class Forecast(nn.Module):
    def __init__(self, depth=20):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH, bias=False, device="cuda") for _ in range(depth))
        self.out = nn.Linear(WIDTH, 6, device="cuda")

    def forward(self, history):
        for layer in self.layers:
            history = history + torch.relu(layer(history))
        return self.out(history)


class FoldRun:
    def __init__(self, fold, seed):
        torch.manual_seed(seed + fold)
        self.fold = fold
        self.model = Forecast()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        self.validation = None

    def fit(self, steps=3, batch=64):
        for _ in range(steps):
            history = torch.randn(batch, WIDTH, device="cuda")
            glucose = torch.randn(batch, 6, device="cuda")
            self.optimizer.zero_grad()
            loss = nn.functional.mse_loss(self.model(history), glucose)
            loss.backward()
            self.optimizer.step()
        self.validation = loss.item()


def cross_validate(folds=5, seed=42):
    runs = []
    for fold in range(folds):
        run = FoldRun(fold, seed)
        run.fit()
        runs.append(run)
    return min(runs, key=lambda run: run.validation)


best = cross_validate()
print("best fold", best.fold, best.validation)
