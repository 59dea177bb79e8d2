# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "fits"
# verdict = ["fits"]
# need_gib = [0.4, 0.9]
# why = "whether the loss stays below the limit decides only when the loop ends; 260 equal steps at most"
# ///
"""Fits a calibration curve and stops early when the error is small for ten steps."""

import torch
from torch import nn

curve = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1)).cuda()
optimizer = torch.optim.Adam(curve.parameters(), lr=0.01)
patience = 10
for step in range(260):
    x = torch.rand(512, 1, device="cuda")
    loss = (curve(x) - x.sqrt()).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    patience = patience - 1 if loss.item() < 1e-3 else 10
    if patience == 0:
        print("converged at step", step)
        break
