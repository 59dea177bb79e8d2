# /// expect
# run = "check"
# vram = "12GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "attention"
# first_finding = ["attention-matrix"]
# lines = [31, 32, 33]
# why = "the scores of 12 heads over 12288 bases are 12 x 12288^2 x 4 B = 6912 MiB; dividing them makes a second matrix of that size: 13824 + 410 of 12288 MiB"
# ///
"""Promoter detection on DNA windows; attention over all bases is written out by hand."""

import math

import torch
from torch import nn

BASES, WIDTH, HEADS = 12_288, 192, 12


class FullAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(WIDTH, 3 * WIDTH)
        self.merge = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.project(x).chunk(3, dim=-1)
        q, k, v = (t.view(batch, length, HEADS, -1).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = torch.softmax(scores, dim=-1)
        mixed = (weights @ v).transpose(1, 2).reshape(batch, length, WIDTH)
        return self.merge(mixed)


class PromoterNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5, WIDTH)
        self.attend = FullAttention()
        self.classify = nn.Linear(WIDTH, 2)

    def forward(self, bases):
        x = self.embed(bases)
        return self.classify((x + self.attend(x)).mean(dim=1))


net = PromoterNet().cuda()
optimizer = torch.optim.Adam(net.parameters())
for step in range(8):
    bases = torch.randint(0, 5, (1, BASES), device="cuda")
    loss = nn.functional.cross_entropy(net(bases), torch.ones(1, dtype=torch.long, device="cuda"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
