# /// expect
# run = "check"
# vram = "7.5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["later-steps"]
# step = 701
# line = 27
# form = "nested functions around for range"
# need_gib = [8.4, 8.8]
# why = "a step has three tensors of 2 GiB, 6 with 7.05 free; the evaluation leaves 64 MiB in one of the three free segments, so the next step asks for a fourth: 8 GiB"
# ///
"""A physics-informed fit on three grids at once; the first evaluation leaves a small reference on the device."""

import torch
from torch import nn


def make_loop(steps):
    rate = nn.Parameter(torch.ones((), device="cuda"))
    optimizer = torch.optim.SGD([rate], lr=0.01)
    reference = None

    def train_step():
        grid = torch.zeros(1 << 29, device="cuda")
        field = grid.add(1.0)
        flux = field.mul(grid)
        loss = (rate * flux[:16] - field[:16]).square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def evaluate():
        nonlocal reference
        if reference is None:
            reference = torch.zeros(1 << 24, device="cuda")
        return (rate.detach() - reference[0]).abs().item()

    def loop():
        for n in range(steps):
            train_step()
            if (n + 1) % 700 == 0:
                print(n + 1, evaluate())

    return loop


make_loop(1600)()
