# /// expect
# run = "check"
# vram = "8GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "attention"
# no_finding = ["attention-matrix"]
# why = "the matrix of 2 x 16 x 6144 x 6144 x 4 B = 4608 MiB is made in 12 slices of 512 queries, 384 MiB each, under no_grad: three of them at a time, next to queries, keys and values of 48 MiB each"
# ///
"""Contact prediction for long protein chains, inference only, attention by slices of the queries."""

import math

import torch
from torch import nn


class SlicedAttention(nn.Module):
    def __init__(self, width=1024, heads=16, rows=512):
        super().__init__()
        self.heads, self.head_width, self.rows = heads, width // heads, rows
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, self.head_width).permute(2, 0, 3, 1, 4)
        pieces = []
        for rows in q.split(self.rows, dim=2):
            scores = rows @ k.transpose(-2, -1) / math.sqrt(self.head_width)
            pieces.append(scores.softmax(dim=-1) @ v)
        return self.out(torch.cat(pieces, dim=2).transpose(1, 2).reshape(batch, length, width))


class ChainEncoder(nn.Module):
    def __init__(self, layers=2):
        super().__init__()
        self.residues = nn.Embedding(26, 1024)
        self.layers = nn.ModuleList(SlicedAttention() for _ in range(layers))
        self.head = nn.Linear(1024, 32)

    def forward(self, chain):
        x = self.residues(chain)
        for layer in self.layers:
            x = x + layer(x)
        return self.head(x)


encoder = ChainEncoder().to("cuda").eval()
with torch.no_grad():
    for batch in range(3):
        chains = torch.randint(0, 26, (2, 6144), device="cuda")
        print(batch, encoder(chains).shape)
