# /// expect
# run = "check"
# vram = "6GiB"
# kind = 7
# truth = "fits"
# verdict = ["fits"]
# need_gib = [0.9, 3.6]
# why = "randperm keeps 49 of 196 patches, whatever the draw: 256 x 49 x 1024 x 4 B = 49 MiB, some twelve of them, and 0.2 GiB of input"
# ///
"""Masked autoencoding keeps a quarter of the patches, by a random permutation on the GPU."""

import torch
from torch import nn

BATCH, PATCHES, KEPT, WIDTH, DEPTH, STEPS = 256, 196, 49, 1024, 4, 3


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(WIDTH, WIDTH) for _ in range(DEPTH)])

    def forward(self, x):
        kept = torch.randperm(PATCHES, device=x.device)[:KEPT]
        x = x[:, kept]
        for block in self.blocks:
            x = x + torch.relu(block(x))
        return x, kept


torch.manual_seed(8)
encoder = Encoder().cuda()
decoder = nn.Linear(WIDTH, WIDTH).cuda()
optimizer = torch.optim.AdamW([*encoder.parameters(), *decoder.parameters()], lr=1e-4)
for step in range(STEPS):
    patches = torch.randn(BATCH, PATCHES, WIDTH, device="cuda")
    encoded, kept = encoder(patches)
    loss = (decoder(encoded) - patches[:, kept]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
