# /// expect
# run = "check"
# vram = "6GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "attention"
# no_finding = ["attention-matrix"]
# why = "a block of 512 queries has scores of 12 x 512 x 12288 x 4 B = 288 MiB; with the scaled copy and the softmax 864 MiB at a time, and 24 outputs of 12 x 512 x 16 x 4 B = 0.4 MiB; the whole matrix would be 6912 MiB"
# ///
"""Scores promoters in long DNA windows; attention is computed for 512 bases at a time."""

import math

import torch
from torch import nn

BASES, WIDTH, HEADS, BLOCK = 12_288, 192, 12, 512


class BlockedAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(WIDTH, 3 * WIDTH)
        self.merge = nn.Linear(WIDTH, WIDTH)

    def attend(self, q, k, v):
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        return torch.softmax(scores, dim=-1) @ v

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.project(x).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        parts = [self.attend(part, k, v) for part in q.split(BLOCK, dim=2)]
        return self.merge(torch.cat(parts, dim=2).transpose(1, 2).reshape(batch, length, WIDTH))


class PromoterScorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5, WIDTH)
        self.layers = nn.ModuleList(BlockedAttention() for _ in range(2))
        self.score = nn.Linear(WIDTH, 1)

    def forward(self, bases):
        x = self.embed(bases)
        for layer in self.layers:
            x = x + layer(x)
        return self.score(x).squeeze(-1)


scorer = PromoterScorer().cuda().eval()
with torch.inference_mode():
    for window in range(6):
        bases = torch.randint(0, 5, (1, BASES), device="cuda")
        print(window, scorer(bases).max().item())
