# /// expect
# run = "check"
# vram = "8GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = false
# why = "80 blocks of two layers 2048 x 8192 x 4 B = 64 MiB are 128 MiB each: 10 GiB of parameters"
# ///
"""A deep residual reader for scoring texts: the model is built block by block on the device."""

import torch
from torch import nn

WIDTH, INNER, BLOCKS, BATCHES = 2048, 8192, 80, 60


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(WIDTH, INNER, bias=False, device="cuda")
        self.down = nn.Linear(INNER, WIDTH, bias=False, device="cuda")

    def forward(self, x):
        return x + self.down(self.up(x).relu())


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList()
        for _ in range(BLOCKS):
            self.blocks.append(Block())

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x.mean(-1)


reader = Reader()
scores = []
with torch.no_grad():
    for _ in range(BATCHES):
        scores.append(reader(torch.randn(256, WIDTH, device="cuda")).cpu())
print(torch.cat(scores).mean().item())
