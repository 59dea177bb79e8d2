# /// expect
# run = "check"
# vram = "8GiB"
# kind = 7
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [1.0, 5.4]
# why = "checkpoint recomputes one of 6 layers at a time: inputs 65,536 x 1024 x 4 B = 0.25 GiB are kept for each, at most 1.5 GiB, and 1 GiB for the layer in work"
# ///
"""Layer drop drawn on the device inside a checkpointed block: the recomputation must draw the same numbers."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

ROWS, WIDTH, DEPTH, DROP, STEPS = 65536, 1024, 6, 0.2, 3


class DroppableLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        if self.training and torch.rand((), device=x.device) < DROP:
            return x
        return x + nn.functional.gelu(self.linear(self.norm(x)))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([DroppableLayer() for _ in range(DEPTH)])

    def forward(self, x):
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False)
        return x


torch.manual_seed(3)
encoder = Encoder().cuda()
optimizer = torch.optim.AdamW(encoder.parameters(), lr=1e-4)
for step in range(STEPS):
    x = torch.randn(ROWS, WIDTH, device="cuda", requires_grad=True)
    loss = encoder(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
