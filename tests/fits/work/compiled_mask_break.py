# /// expect
# run = "check"
# vram = "6GiB"
# kind = 2
# truth = "fits"
# verdict = ["fits", "fits so far"]
# says_so_far = ["compiled_mask_break.py:29"]
# need_gib = [1.5, 4.6]
# why = "features and each activation have 65,536 x 1024 x 4 B = 0.25 GiB; a handful are alive, whatever share of rows the mask takes"
# ///
"""Trains a compiled scorer that drops outlier rows by a mask: a graph break in the middle of forward."""

import torch
import torch.nn.functional as F
from torch import nn

ROWS, WIDTH, STEPS = 65536, 1024, 3


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU())
        self.score = nn.Linear(WIDTH, 1)

    def forward(self, x):
        h = self.encode(x)
        inlier = h.detach().norm(dim=1) < 30.0
        return self.score(h[inlier]), inlier


model = torch.compile(Scorer().cuda())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(STEPS):
    x = torch.randn(ROWS, WIDTH, device="cuda")
    target = torch.rand(ROWS, 1, device="cuda")
    prediction, inlier = model(x)
    loss = F.mse_loss(prediction, target[inlier])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
