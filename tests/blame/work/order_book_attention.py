# /// expect
# run = "check"
# vram = "8GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "attention"
# first_finding = ["attention-matrix"]
# lines = [26]
# why = "MultiheadAttention returns its weights unless told otherwise and so makes the matrix: 3 x 8 x 8192 x 8192 x 4 B = 6144 MiB of scores and as much for the softmax, of 7782; the projections are 3 x 8192 x 512 x 4 B = 48 MiB each"
# ///
"""Predicts the next price move from 8192 order book events."""

import torch
from torch import nn


class EventBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.inner = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))

    def forward(self, x):
        y = self.norm(x)
        attended, _ = self.attention(y, y, y)
        x = x + attended
        return x + self.inner(x)


class MoveModel(nn.Module):
    def __init__(self, width=512, heads=8):
        super().__init__()
        self.embed = nn.Linear(40, width)
        self.block = EventBlock(width, heads)
        self.out = nn.Linear(width, 3)

    def forward(self, events):
        return self.out(self.block(self.embed(events))[:, -1])


def main(steps=3, batch=3, events=8192):
    torch.manual_seed(5)
    model = MoveModel().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    for step in range(steps):
        book = torch.randn(batch, events, 40).cuda()
        move = torch.randint(0, 3, (batch,)).cuda()
        loss = nn.functional.cross_entropy(model(book), move)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, round(loss.item(), 4))


main()
