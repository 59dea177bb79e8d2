# /// expect
# run = "run"
# vram = "4GiB"
# ends = "ok"
# status = 0
# line = 27
# requested_bytes = 4294967296
# says_any = [27]
# caught = 2
# steps = 6
# ///
"""Trains on sequences of mixed lengths and skips the two that run out of memory."""

import torch
from torch import nn

WIDTH, HIDDEN = 1024, 8192
LENGTHS = [2048, 4096, 131072, 1024, 8192, 131072, 2048, 512]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, WIDTH)

    def forward(self, x):
        wide = self.up(x)
        return x + self.down(wide.relu())


block = Block().cuda()
optimizer = torch.optim.SGD(block.parameters(), lr=0.01)
skipped = 0
for length in LENGTHS:
    optimizer.zero_grad()
    try:
        block(torch.randn(length, WIDTH, device="cuda")).square().mean().backward()
    except torch.cuda.OutOfMemoryError:
        skipped += 1
        print("skipping a batch of length", length)
        continue
    optimizer.step()
print("trained, skipped", skipped)
