# /// expect
# run = "check"
# vram = "8GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "attention"
# first_finding = ["attention-matrix"]
# lines = [29, 30]
# why = "scores are 2 x 16 x 6144 x 6144 x 4 B = 4608 MiB; the product and its scaled copy are 9216 MiB, softmax adds as much again; queries, keys and values are 2 x 6144 x 1024 x 4 B = 48 MiB each"
# ///
"""Contact prediction for long protein chains with a hand-written self-attention."""

import math

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, width=1024, heads=16):
        super().__init__()
        self.heads, self.head_width = heads, width // heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, self.head_width).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_width)
        attention = scores.softmax(dim=-1)
        return self.out((attention @ v).transpose(1, 2).reshape(batch, length, width))


class ChainEncoder(nn.Module):
    def __init__(self, layers=2):
        super().__init__()
        self.residues = nn.Embedding(26, 1024)
        self.layers = nn.ModuleList(SelfAttention() for _ in range(layers))
        self.head = nn.Linear(1024, 32)

    def forward(self, chain):
        x = self.residues(chain)
        for layer in self.layers:
            x = x + layer(x)
        return self.head(x)


encoder = ChainEncoder().to("cuda")
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.01)
for step in range(3):
    chains = torch.randint(0, 26, (2, 6144), device="cuda")
    contacts = encoder(chains)
    loss = contacts.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("step", step, "loss", loss.item())
