# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "evaluation"
# first_finding = ["grad-recorded-in-eval"]
# lines = [25, 37]
# why = "65,536 rows x 1024 x 4 B = 256 MiB; each of 12 layers saves its output and its GELU, 6 GiB with gradients recorded, of 2.52; under no_grad three of them are alive, 0.75 GiB"
# ///
"""Scores the embedded reviews of a shop with a trained net, block by block."""

import torch
from torch import nn


class Scorer(nn.Module):
    def __init__(self, depth=12, width=1024):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.score = nn.Linear(width, 1)

    def forward(self, x):
        for layer in self.layers:
            x = nn.functional.gelu(layer(x))
        return self.score(x).squeeze(1)


def blocks(count, rows=65_536):
    for _ in range(count):
        yield torch.randn(rows, 1024)


scorer = Scorer().cuda().eval()
total, good = 0, 0
for block in blocks(6):
    scores = scorer(block.cuda())
    good += (scores > 0).sum().item()
    total += len(block)
print(f"{good} of {total} are good")
