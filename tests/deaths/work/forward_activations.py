# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 26
# requested_bytes = 1073741824
# says_any = ["activation", "hidden"]
# culprit = 26
# steps = 0
# ///
"""Trains a residual network: each block keeps 1 GiB for the backward pass, and the fourth of six does not fit."""

import torch
from torch import nn

ROWS, WIDTH, HIDDEN, BLOCKS = 65536, 128, 4096, 6


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, WIDTH)

    def forward(self, x):
        hidden = self.up(x)
        return x + self.down(torch.sigmoid_(hidden))


model = nn.Sequential(*(Block() for _ in range(BLOCKS))).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(ROWS, WIDTH, device="cuda")
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("step", step, loss.item())
