# /// expect
# run = "check"
# vram = "8GiB"
# kind = 4
# truth = "does not fit"
# verdict = ["does not fit"]
# says = ["full at"]
# full_at = [25, 31]
# why = "every batch of the epoch leaves its graph, 32,768 x 2048 x 4 B = 0.25 GiB of tanh outputs (and 16 MiB of inputs); backward comes after 100 batches"
# ///
"""Sums the losses of an epoch and calls backward once at its end: the graphs of 100 batches are alive at once."""

import torch
from torch import nn

ROWS, INPUTS, WIDTH, BATCHES, EPOCHS = 32768, 128, 2048, 100, 10

model = nn.Sequential(nn.Linear(INPUTS, WIDTH), nn.Tanh(), nn.Linear(WIDTH, 1)).cuda()
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=1, history_size=4)


def epoch_loss():
    total = 0.0
    for _ in range(BATCHES):
        x = torch.randn(ROWS, INPUTS, device="cuda")
        y = x[:, :1] ** 2
        total = total + nn.functional.mse_loss(model(x), y)
    return total / BATCHES


def closure():
    optimizer.zero_grad()
    loss = epoch_loss()
    loss.backward()
    return loss


for epoch in range(EPOCHS):
    print(epoch, optimizer.step(closure).item())
