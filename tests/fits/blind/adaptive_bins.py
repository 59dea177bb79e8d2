# /// expect
# run = "check"
# vram = "6GiB"
# kind = 10
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [34]
# need_gib = [6.9, 26]
# open = "no answer, expected does not fit"
# why = "NumPy divides by the range of the scores, then 8192 x 64 x 4096 x 4 B = 8 GiB of soft histogram are asked for, whatever the range"
# ///
"""A soft histogram loss whose bins are placed by NumPy between the lowest and the highest score on the host."""

import numpy as np
import torch
from torch import nn

ROWS, FEATURES, BINS, STEPS = 8192, 64, 4096, 40


def edges(scores):
    values = scores.detach().cpu().numpy()
    span = values.max() - values.min()
    if span == 0:
        raise ZeroDivisionError("all scores are equal")
    return torch.from_numpy(np.arange(BINS, dtype=np.float32) * (span / BINS) + values.min()).cuda()


model = nn.Linear(FEATURES, FEATURES).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(STEPS):
    scores = model(torch.randn(ROWS, FEATURES, device="cuda"))
    bins = edges(scores)
    share = torch.exp(-(scores[..., None] - bins).square()).mean((0, 1))
    loss = (share - 1 / BINS).square().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
