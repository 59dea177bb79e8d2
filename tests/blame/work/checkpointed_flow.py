# /// expect
# run = "check"
# vram = "6GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "activations"
# no_finding = ["batch-too-large", "need-exceeds-device"]
# why = "a block would save 6 tensors of 16384 x 2048 x 4 B = 128 MiB and twelve blocks 9 GiB; recomputed in backward they keep one of 128 MiB each, 1536 MiB, and one block's 768 MiB: with weights, gradients and moments about 3600 MiB"
# ///
"""Density model of particle showers whose blocks are recomputed in backward."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class CouplingBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.scale = nn.Sequential(nn.Linear(width, width), nn.Tanh())
        self.shift = nn.Sequential(nn.Linear(width, width), nn.Tanh())

    def forward(self, x):
        y = self.norm(x)
        return x * torch.exp(self.scale(y)) + self.shift(y)


class Flow(nn.Module):
    def __init__(self, width=2048, depth=12):
        super().__init__()
        self.blocks = nn.ModuleList(CouplingBlock(width) for _ in range(depth))

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return x


flow = Flow().cuda()
optimizer = torch.optim.Adam(flow.parameters(), lr=1e-4)
for step in range(3):
    showers = torch.randn(16384, 2048, device="cuda")
    loss = flow(showers).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
