# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "earlier-model"
# first_finding = ["earlier-model-alive"]
# lines = [25, 44, 35, 36]
# saves_mib = 5120
# why = "a fold's net has 5 x 4096 x 4096 x 4 B = 320 MiB; weights, gradients and Adam's moments are 4 x 320 = 1280 MiB, and `trainers` keeps those of every fold: four earlier folds are 5120 MiB, the fifth needs 1600 more, 6720 of 5734"
# ///
"""Five-fold cross-validation of a wide net for retention-time prediction."""

import torch
from torch import nn

WIDTH = 4096


class FoldTrainer:
    def __init__(self, fold):
        self.fold = fold
        layers = []
        for _ in range(5):
            layers += [nn.Linear(WIDTH, WIDTH, bias=False, device="cuda"), nn.SiLU()]
        self.model = nn.Sequential(*layers)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        self.score = None

    def fit(self, steps=2, batch=512):
        for _ in range(steps):
            peptides = torch.randn(batch, WIDTH, device="cuda")
            loss = self.model(peptides).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        self.score = loss.item()
        return self


def cross_validate(folds):
    trainers = []
    for fold in range(folds):
        trainers.append(FoldTrainer(fold).fit())
        print("fold", fold, trainers[-1].score)
    return sum(trainer.score for trainer in trainers) / folds


print("mean score", cross_validate(folds=5))
