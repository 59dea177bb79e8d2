# /// expect
# run = "check"
# vram = "8GiB"
# verdict = ["fits", "fits so far"]
# search = true
# line = 33
# requested_bytes = 1073741824
# caught_line = 43
# then = "batch 32: 8 x 0.5 GiB of activations, 0.5 GiB of weights and as much of gradients"
# why = "a trainer whose handler calls a method that halves an entry of the settings, and sets another number"
# ///
"""Trains; a method of the trainer halves the batch in its settings after an out-of-memory error."""

import torch
from torch import nn

ROWS, WIDTH = 1024, 4096


class Trainer:
    def __init__(self):
        self.settings = {"batch": 64, "epochs": 3}
        self.model = nn.Sequential(*[nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(8)]).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)
        self.last_epoch = 5

    def shrink(self):
        self.settings["batch"] //= 2
        self.last_epoch = 3

    def step(self):
        x = torch.ones(self.settings["batch"] * ROWS, WIDTH, device="cuda")
        loss = self.model(x).square().mean()
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def run(self):
        epoch = 0
        while epoch < self.settings["epochs"]:
            try:
                self.step()
            except torch.cuda.OutOfMemoryError:
                self.shrink()
            else:
                epoch += 1


Trainer().run()
