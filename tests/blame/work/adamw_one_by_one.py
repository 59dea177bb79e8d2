# /// expect
# run = "check"
# vram = "6GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "optimizer"
# no_finding = ["optimizer-state", "need-exceeds-device"]
# why = "19 x 4096^2 x 4 B = 1216 MiB of weights, with gradients and two moments 4864; foreach=False updates one weight at a time, so its temporaries are at most 2 x 64 MiB: 4992 + small + 410 of 6144 MiB; with foreach they were 1216: 6490"
# ///
"""Demand forecast from a long window of features; the optimizer updates one weight at a time to save memory."""

import torch
import torch.nn as nn

FEATURES = 4096


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(FEATURES, device="cuda")
        self.linear = nn.Linear(FEATURES, FEATURES, bias=False, device="cuda")

    def forward(self, x):
        return x + torch.relu(self.linear(self.norm(x)))


class Forecaster(nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.blocks = nn.Sequential(*[Residual() for _ in range(blocks)])
        self.head = nn.Linear(FEATURES, 28, device="cuda")

    def forward(self, window):
        return self.head(self.blocks(window))


forecaster = Forecaster(blocks=19)
optimizer = torch.optim.AdamW(forecaster.parameters(), lr=3e-4, foreach=False)
for week in range(6):
    window = torch.randn(96, FEATURES).cuda()
    demand = torch.rand(96, 28).cuda()
    loss = nn.functional.smooth_l1_loss(forecaster(window), demand)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print("week", week, "loss", loss.item())
