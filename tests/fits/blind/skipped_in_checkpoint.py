# /// expect
# run = "check"
# vram = "6GiB"
# kind = 7
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [0.8, 4.0]
# why = "reentrant checkpoints keep one input of 16,384 x 2048 x 4 B = 0.13 GiB for each of four blocks, and one block's four in backward"
# ///
"""Stochastic depth inside reentrant checkpoints: the coin is drawn by bernoulli_ on the GPU."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint_sequential

ROWS, WIDTH, DEPTH, SURVIVES, STEPS = 16384, 2048, 8, 0.7, 3


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.SiLU())
        self.register_buffer("coin", torch.zeros(1))

    def forward(self, x):
        self.coin.bernoulli_(SURVIVES)
        if self.coin.item() == 0:
            return x * 1.0
        return x + self.body(x) / SURVIVES


torch.manual_seed(21)
model = nn.Sequential(*[Block() for _ in range(DEPTH)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(STEPS):
    x = torch.randn(ROWS, WIDTH, device="cuda", requires_grad=True)
    loss = checkpoint_sequential(model, DEPTH // 2, x, use_reentrant=True).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
