# /// expect
# run = "check"
# vram = "8GiB"
# kind = 4
# truth = "does not fit"
# verdict = ["does not fit"]
# says = ["full at"]
# full_at = [16, 20]
# why = "each of 500 steps leaves the hidden states of its batch, 32,768 x 3072 x 4 B = 0.375 GiB, in a dictionary by step; about 7 GiB are for them"
# ///
"""Trains a sparse autoencoder and remembers the codes of every step for a later study of dead features."""

import torch
from torch import nn

ROWS, WIDTH, CODES, STEPS = 32768, 256, 3072, 500


class SparseAutoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Linear(WIDTH, CODES), nn.Linear(CODES, WIDTH)

    def forward(self, x):
        codes = self.encode(x).relu_()
        return self.decode(codes), codes


model = SparseAutoencoder().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
seen = {}
for step in range(STEPS):
    x = torch.randn(ROWS, WIDTH, device="cuda")
    restored, codes = model(x)
    loss = (restored - x).square().mean() + 1e-3 * codes.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    seen[step] = codes.data
