# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 42
# requested_bytes = 157286400
# says_any = ["optimizer state", "optimizer's state", "adam", "exp_avg"]
# steps = 0
# ///
"""AdamW with amsgrad, three states, and an averaged copy of the model: what its first step computes in passing does not fit."""

import copy

import torch
from torch import nn


def build() -> nn.Sequential:
    """Returns four layers of 150 MiB."""
    sizes = [6144, 6400, 6144, 6400, 6144]
    return nn.Sequential(*(nn.Linear(a, b, bias=False) for a, b in zip(sizes, sizes[1:], strict=False))).cuda()


class Trainer:
    """Trains a model and keeps an average of it."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.average = copy.deepcopy(model).requires_grad_(False)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, amsgrad=True)

    @torch.no_grad()
    def update_average(self) -> None:
        for mean, parameter in zip(self.average.parameters(), self.model.parameters(), strict=True):
            mean.lerp_(parameter, 0.001)

    def step(self, batch: torch.Tensor) -> None:
        self.optimizer.zero_grad(set_to_none=True)
        self.model(batch).square().mean().backward()
        print("backward", flush=True)
        self.optimizer.step()
        self.update_average()


trainer = Trainer(build())
for number in range(3):
    trainer.step(torch.zeros(16, 6144, device="cuda"))
    print("step", number, flush=True)
