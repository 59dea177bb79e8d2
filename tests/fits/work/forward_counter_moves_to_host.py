# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [0.4, 1.0]
# why = "the 200th forward keeps a copy of one activation of 64 x 256 x 4 B on the host; nothing grows on the device"
# ///
"""Predicts tides; one activation is kept on the host for a figure of the paper."""

import torch
from torch import nn


class Tide(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(24, 256), nn.Linear(256, 24)
        self.calls, self.figure = 0, None

    def forward(self, hours):
        self.calls += 1
        hidden = torch.tanh(self.first(hours))
        if self.calls == 200:
            self.figure = hidden.detach().to("cpu")
        return self.second(hidden)


tide = Tide().cuda()
optimizer = torch.optim.ASGD(tide.parameters())
for _ in range(240):
    hours = torch.randn(64, 24, device="cuda")
    optimizer.zero_grad()
    nn.functional.mse_loss(tide(hours), hours.roll(1, dims=1)).backward()
    optimizer.step()
print("figure", tuple(tide.figure.shape))
