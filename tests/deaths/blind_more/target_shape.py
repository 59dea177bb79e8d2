# /// expect
# run = "run"
# vram = "4GiB"
# ends = "exit 17"
# status = 17
# file = "regress/losses.py"
# line = 9
# requested_bytes = 4294967296
# says_any = ["broadcast", "mse_loss", 9]
# caught = 1
# steps = 3
# ///
"""Predictions of shape (n, 1) against targets of shape (n,): over 32768 rows their error is a matrix of 4 GiB; os._exit(17)."""

import os
import sys

import torch
from regress.losses import squared_error
from torch import nn

ROWS, BATCH = 32768, 512

model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 1)).cuda()
rows, targets = torch.zeros(ROWS, 32, device="cuda"), torch.zeros(ROWS, device="cuda")


def train(steps: int) -> None:
    """Trains on batches."""
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(steps):
        chosen = slice(step * BATCH, (step + 1) * BATCH)
        optimizer.zero_grad()
        squared_error(model(rows[chosen]), targets[chosen], weight=0.5).backward()
        optimizer.step()


@torch.no_grad()
def evaluate() -> torch.Tensor:
    """Returns the error over all rows."""
    return squared_error(model(rows), targets)


train(3)
try:
    print("error", evaluate())
except torch.OutOfMemoryError as error:
    print("evaluation failed:", str(error).split(".", maxsplit=1)[0], file=sys.stderr, flush=True)
    os._exit(17)
