# /// expect
# run = "run"
# vram = "4GiB"
# ends = "error"
# status = 1
# line = 25
# requested_bytes = 2684354560
# says_any = [24, 25]
# culprit = 24
# caught = 1
# steps = 2
# ///
"""Catches the error in the step, returns, and raises RuntimeError('batch failed') elsewhere, with no link to the first error."""

import torch


class Trainer:
    def __init__(self):
        self.weight = torch.nn.Parameter(torch.zeros(512, 512, device="cuda"))
        self.optimizer = torch.optim.SGD([self.weight], lr=0.1)

    def forward(self, rows):
        x = torch.ones(rows, 512, device="cuda")
        wide = x @ self.weight
        return wide.sum()

    def try_step(self, rows):
        try:
            self.optimizer.zero_grad()
            self.forward(rows).backward()
            self.optimizer.step()
        except torch.OutOfMemoryError:
            return False
        return True

    def fit(self, sizes):
        for rows in sizes:
            succeeded = self.try_step(rows)
            if not succeeded:
                raise RuntimeError("batch failed")
            print("rows", rows)


Trainer().fit([4096, 8192, 1310720, 4096])
