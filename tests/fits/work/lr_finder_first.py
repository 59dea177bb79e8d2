# /// expect
# run = "check"
# vram = "6GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# says_so_far = ["not run"]
# need_gib = [8, 17]
# why = "the range test runs 32 rows x 256 x 2048 x 4 B = 64 MiB a layer for 20 steps, the training 512 rows: 1 GiB in each of 6 layers"
# ///
"""Runs fastai's learning-rate range test with small batches, restores the weights, then trains with full ones."""

import copy
import math

import torch
from torch import nn

TOKENS, WIDTH, DEPTH, SMALL, FULL, TRIALS, STEPS = 256, 2048, 6, 32, 512, 20, 2000


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(WIDTH, WIDTH) for _ in range(DEPTH)])

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return x.mean((1, 2))


class LRFinder:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.weights = copy.deepcopy(model.state_dict())

    def range_test(self, start=1e-6, end=1.0):
        best, chosen = math.inf, start
        for trial in range(TRIALS):
            rate = start * (end / start) ** (trial / TRIALS)
            self.optimizer.param_groups[0]["lr"] = rate
            loss = train_step(self.model, self.optimizer, SMALL)
            if loss < best:
                best, chosen = loss, rate
        self.model.load_state_dict(self.weights)
        return chosen / 10


def train_step(model, optimizer, rows):
    x = torch.randn(rows, TOKENS, WIDTH, device="cuda")
    loss = (model(x) - x[:, 0, 0]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6, momentum=0.9)
optimizer.param_groups[0]["lr"] = LRFinder(model, optimizer).range_test()
for step in range(STEPS):
    train_step(model, optimizer, FULL)
