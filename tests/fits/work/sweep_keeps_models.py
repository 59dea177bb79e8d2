# /// expect
# run = "check"
# vram = "8GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# says_so_far = ["not run"]
# need_gib = [10.5, 17]
# why = "widths 2048 and 8192: the second model has 10 x 8192 x 8192 x 4 B = 2.5 GiB, with gradients and moments 10 GiB; the first has 0.6 GiB in all"
# ///
"""Sweeps over the width of a regressor, ten steps each, and keeps the best model."""

import torch
from torch import nn

DEPTH, BATCH, STEPS = 10, 128, 10
WIDTHS = [2048, 8192]


def build(width):
    layers = []
    for _ in range(DEPTH):
        layers += [nn.Linear(width, width, device="cuda"), nn.SiLU()]
    return nn.Sequential(*layers, nn.Linear(width, 1, device="cuda"))


def fit(width):
    model = build(width)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    for _ in range(STEPS):
        x = torch.randn(BATCH, width, device="cuda")
        loss = nn.functional.l1_loss(model(x), x.sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model, loss.item()


best_model, best_loss = None, float("inf")
for width in WIDTHS:
    model, loss = fit(width)
    if loss < best_loss:
        best_model, best_loss = model, loss
print("best loss", best_loss)
