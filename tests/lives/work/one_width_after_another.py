# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["next-epoch"]
# form = "loop over a tuple of configurations, function for each"
# need_gib = [1.9, 2.6]
# why = "widths of 256, 512, 1,024 and 512 x 131,072 x 4 B: at most 0.5 GiB of weights with as much gradient and momentum, 1.5 GiB; a model ends with its function"
# ///
"""Tries four widths one after the other; each model is local to its trial, and only its number is returned."""

from typing import NamedTuple

import torch
from torch import nn


class Trial(NamedTuple):
    width: int
    steps: int


def run(trial):
    table = nn.Embedding(131_072, trial.width, device="cuda")
    optimizer = torch.optim.SGD(table.parameters(), lr=0.1, momentum=0.9)
    last = None
    for _ in range(trial.steps):
        last = table(torch.randint(131_072, (48,), device="cuda")).square().mean()
        optimizer.zero_grad()
        last.backward()
        optimizer.step()
    return last.item()


for trial in (Trial(256, 500), Trial(512, 400), Trial(1024, 500), Trial(512, 300)):
    torch.cuda.empty_cache()
    print(trial, run(trial))
