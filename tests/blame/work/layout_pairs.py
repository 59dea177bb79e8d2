# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "pairwise"
# first_finding = ["pairwise-by-broadcasting"]
# lines = [33]
# why = "16384 cells against 16384 cells by broadcasting over 4 coordinates are 16384 x 16384 x 4 x 4 B = 4096 MiB for the difference, and its absolute value is as large: 8192 of 5120 MiB"
# ///
"""Overlap of the cells of a floor plan, for all pairs at once."""

import torch
from torch import nn

CELLS = 16_384


class Placer(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(16, 128), nn.ReLU(), nn.Linear(128, 4))

    def forward(self, features):
        return self.net(features)


model = Placer().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
features = torch.randn(CELLS, 16, device="cuda")
for step in range(20):
    boxes = model(features)
    spread = (boxes[:, None, :] - boxes[None, :, :]).abs()
    loss = torch.relu(1 - spread.amin(dim=-1)).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item())
