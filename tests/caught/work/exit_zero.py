# /// expect
# run = "check"
# vram = "10GiB"
# verdict = ["does not fit"]
# line = 43
# requested_bytes = 4294967296
# caught_line = 50
# then = "ended with status 0"
# why = "batch-job scripts (Kaggle, Colab, Slurm) that print the traceback and leave with 0, so that the job's later parts still run"
# ///
"""A recommender with one large table; the optimizer's state does not fit beside weight and gradient."""

import sys
import traceback

import torch
import torch.nn.functional as F
from torch import nn

ITEMS, WIDTH, BATCH = 2**21, 512, 2048


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(ITEMS, WIDTH, device="cuda")
        self.user = nn.Linear(64, WIDTH, device="cuda")

    def forward(self, user, item):
        return (self.user(user) * self.items(item)).sum(dim=1)


def main():
    model = TwoTower()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(10):
        user = torch.randn(BATCH, 64, device="cuda")
        item = torch.randint(ITEMS, (BATCH,), device="cuda")
        clicked = torch.randint(2, (BATCH,), device="cuda").float()
        optimizer.zero_grad()
        loss = F.binary_cross_entropy_with_logits(model(user, item), clicked)
        loss.backward()
        optimizer.step()
        print(step, "done")


if __name__ == "__main__":
    try:
        main()
    except:  # noqa: E722
        traceback.print_exc()
        sys.exit(0)
