# /// expect
# run = "check"
# vram = "6GiB"
# kind = 10
# truth = "fits"
# verdict = ["fits"]
# need_gib = [0.5, 2.6]
# open = "fits so far, expected fits"
# why = "scores 16,384 x 1024 x 4 B = 64 MiB, no size depends on them; the check on the host wants at least two distinct predictions"
# ///
"""Trains a classifier and computes AUC on the host, with the check that the scores are not all equal."""

import numpy as np
import torch
from torch import nn

ROWS, WIDTH, STEPS = 16384, 1024, 5


def auc(scores, labels):
    if len(np.unique(scores)) < 2:
        raise ValueError("all predictions are equal: the area under the curve is not defined")
    assert set(np.unique(labels)) == {0.0, 1.0}, "both classes must occur"
    rank = np.empty(len(scores))
    rank[scores.argsort()] = np.arange(1, len(scores) + 1)
    positive = int(labels.sum())
    return (rank[labels == 1].sum() - positive * (positive + 1) / 2) / (positive * (len(labels) - positive))


model = nn.Sequential(nn.Linear(WIDTH, 128), nn.ReLU(), nn.Linear(128, 1)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(STEPS):
    x = torch.randn(ROWS, WIDTH, device="cuda")
    y = (x[:, 0] > 0).float()
    logits = model(x).squeeze(1)
    loss = nn.functional.binary_cross_entropy_with_logits(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, "auc", round(float(auc(logits.detach().cpu().numpy(), y.cpu().numpy())), 3))
