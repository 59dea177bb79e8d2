# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["later-steps"]
# step = 501
# line = 27
# form = "Session with tick(), while session.tick()"
# need_gib = [5.2, 7.2]
# why = "with recomputation a step keeps 12 x 16,384 x 512 x 4 B = 12 x 32 MiB and one block's inside, 4 x 128 MiB; the evaluation switches recomputation off for good, and then each of 12 blocks keeps 3 or 4 tensors of 128 MiB: over 4.5 GiB, with 3.55 free"
# ///
"""Residual blocks under checkpointing; the evaluation turns checkpointing off, for speed, and never on again."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(512, 2048), nn.Linear(2048, 512)

    def forward(self, x):
        h = self.up(x)
        return x + self.down(torch.sigmoid(h) * h.tanh())


class Session:
    def __init__(self, limit):
        self.blocks = nn.ModuleList(Block() for _ in range(12)).cuda()
        self.optimizer = torch.optim.SGD(self.blocks.parameters(), lr=1e-3)
        self.recompute, self.ticks, self.limit = True, 0, limit

    def run(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.recompute else block(x)
        return x

    def evaluate(self):
        self.recompute = False
        with torch.no_grad():
            return self.run(torch.randn(256, 512, device="cuda")).std().item()

    def tick(self):
        x = torch.randn(16_384, 512, device="cuda")
        loss = (self.run(x) - x).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.ticks += 1
        if self.ticks == 500:
            print(self.evaluate())
        return self.ticks < self.limit


session = Session(650)
while session.tick():
    pass
