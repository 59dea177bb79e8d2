# /// expect
# run = "check"
# vram = "3GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "earlier-model"
# no_finding = ["earlier-model-alive"]
# why = "all trainers are kept, but a fold's model goes to the CPU and its optimizer and gradients are dropped: one fold at a time, 5 x 320 = 1600 MiB in Adam's step; the states of one earlier fold, 1280 MiB, would not fit beside it in 2662"
# ///
"""Five-fold cross-validation of a wide net; the fold's nets are kept on the CPU for an ensemble."""

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
        self.optimizer.zero_grad()
        self.optimizer = None
        self.model.cpu()
        return self


def cross_validate(folds):
    trainers = []
    for fold in range(folds):
        trainers.append(FoldTrainer(fold).fit())
        print("fold", fold, trainers[-1].score)
    return sum(trainer.score for trainer in trainers) / folds


print("mean score", cross_validate(folds=5))
