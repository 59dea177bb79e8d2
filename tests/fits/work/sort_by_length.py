# /// expect
# run = "check"
# vram = "5GiB"
# kind = 1
# truth = "does not fit"
# verdict = ["does not fit"]
# need_gib = [6.2, 11]
# why = "the first batch has the longest of 300,000 texts: scores 16 x 8 x 2048 x 2048 x 4 B = 2 GiB, their softmax 2 GiB, and 2 GiB more in backward"
# ///
"""Trains an encoder on texts sorted by length, longest first, so that the worst batch comes at once."""

import math

import torch
from torch import nn

TEXTS, LONGEST, BATCH, WIDTH, HEADS, LABELS, STEPS = 300_000, 2048, 16, 256, 8, 4, 500


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x, padding):
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        scores = scores.masked_fill(padding[:, None, None], -1e9)
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, WIDTH))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30_000, WIDTH)
        self.attend = Attention()
        self.head = nn.Linear(WIDTH, LABELS)

    def forward(self, ids, padding):
        return self.head(self.attend(self.embed(ids), padding).mean(1))


generator = torch.Generator().manual_seed(7)
lengths = torch.randint(16, 240, (TEXTS,), generator=generator)
lengths[4321] = LONGEST
lengths = lengths.cuda()
order = lengths.argsort(descending=True)
model = Classifier().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
for step in range(STEPS):
    size = lengths[order[step * BATCH : (step + 1) * BATCH]]
    longest = size.max().item()
    ids = torch.randint(30_000, (BATCH, longest), device="cuda")
    padding = torch.arange(longest, device="cuda")[None] >= size[:, None]
    loss = nn.functional.cross_entropy(model(ids, padding), torch.randint(LABELS, (BATCH,), device="cuda"))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
