# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "stale-gradients"
# first_finding = ["gradients-alive-in-forward"]
# lines = [41, 45, 52]
# saves_mib = 1664
# why = "26 x 4096^2 x 4 B = 1664 MiB of weights; the last step's gradients, as much, are alive while the accounts are scored: accounts, a layer's input and its output are 3 x 65536 x 4096 x 4 B = 3072 MiB: 6400 + 410 of 6144 MiB; without the gradients 4736 + 410"
# ///
"""Fraud detection: after every epoch all accounts are scored in one wide pass, without gradients."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    width: int = 4096
    layers: int = 26
    batch: int = 128
    accounts: int = 65_536
    epochs: int = 2
    steps: int = 3


class Detector:
    def __init__(self, config):
        self.config = config
        layers = []
        for _ in range(config.layers):
            layers += [nn.Linear(config.width, config.width, bias=False, device="cuda"), nn.ReLU(inplace=True)]
        self.model = nn.Sequential(*layers, nn.Linear(config.width, 1, device="cuda"))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)

    def train_epoch(self):
        for _ in range(self.config.steps):
            self.optimizer.zero_grad()
            features = torch.randn(self.config.batch, self.config.width, device="cuda")
            fraud = torch.randint(0, 2, (self.config.batch, 1), device="cuda").float()
            loss = nn.functional.binary_cross_entropy_with_logits(self.model(features), fraud)
            loss.backward()
            self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def score(self):
        accounts = torch.randn(self.config.accounts, self.config.width, device="cuda")
        return self.model(accounts).sigmoid().mean().item()


detector = Detector(Config())
for epoch in range(detector.config.epochs):
    print(epoch, detector.train_epoch(), detector.score())
