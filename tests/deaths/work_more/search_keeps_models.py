# /// expect
# run = "run"
# vram = "4GiB"
# ends = "exit 4"
# status = 4
# line = 39
# requested_bytes = 268435456
# says_any = ["trial", "optimizer", "adam"]
# caught = 1
# steps = 6
# open = "the steps of the last optimizer are stated, not of all"
# ///
"""A search keeps the model and optimizer of each trial, 1 GiB: the fourth finds no room for Adam's state, and os._exit(4) ends it."""

import os
import sys
from dataclasses import dataclass, field

import torch
from torch import nn

WIDTH = 8192


@dataclass
class Trial:
    """One setting, with what was trained."""

    lr: float
    model: nn.Module = field(default_factory=lambda: nn.Linear(WIDTH, WIDTH, bias=False, device="cuda"))
    optimizer: torch.optim.Optimizer | None = None

    def run(self) -> "Trial":
        """Trains for two steps."""
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=self.lr)
        for _ in range(2):
            self.optimizer.zero_grad()
            self.model(torch.zeros(64, WIDTH, device="cuda")).mean().backward()
            self.optimizer.step()
        return self


def search(rates: list[float]) -> list[Trial]:
    """Returns all trials, to choose the best later."""
    trials = []
    for rate in rates:
        trials.append(Trial(rate).run())
        print("trial with", rate, flush=True)
    return trials


try:
    search([0.1, 0.01, 0.001, 0.0001, 0.00001])
except torch.OutOfMemoryError:
    print("giving up: no memory", file=sys.stderr, flush=True)
    os._exit(4)
