# /// expect
# run = "check"
# vram = "8GiB"
# kind = 1
# truth = "fits"
# verdict = ["fits"]
# need_gib = [0.8, 5.2]
# why = "documents have at most 256 tokens, so a block of 256 has 64 x 8 x 256 x 256 x 4 B = 0.13 GiB of scores; the row of 16,384 tokens is never one document"
# ///
"""Packs documents into rows; attention stays inside a document, in blocks as long as the longest one."""

import torch
from torch import nn

DOCUMENTS, ROW, LONGEST, WIDTH, HEADS, STEPS = 400_000, 16384, 256, 512, 8, 3


def lengths():
    generator = torch.Generator().manual_seed(9)
    return torch.randint(LONGEST // 2, LONGEST + 1, (DOCUMENTS,), generator=generator)


def pack(sizes, start):
    """Documents from `start` that fill one row, and their longest."""
    ends = sizes[start : start + 1024].cumsum(0)
    count = int((ends <= ROW).sum())
    return count, int(sizes[start : start + count].max())


class Packed(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        documents, length, _ = x.shape
        q, k, v = self.qkv(x).view(documents, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-2, -1) / 8).softmax(-1)
        return x + self.out((weights @ v).transpose(1, 2).flatten(2))


sizes, model = lengths().cuda(), Packed().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
start = 0
for step in range(STEPS):
    count, longest = pack(sizes, start)
    start += count
    x = torch.randn(count, longest, WIDTH, device="cuda")
    loss = (model(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
