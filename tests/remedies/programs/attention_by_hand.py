"""Trains one layer of attention, written out as in a textbook."""

import torch
from torch import nn

BATCH, HEADS, TIME, WIDTH = 4, 8, 1024, 256


class Attention(nn.Module):
    """Attention of every position to every position."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)

    def forward(self, x):
        q, k, v = self.qkv(x).view(BATCH, TIME, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4).contiguous()
        scores = q @ k.transpose(-2, -1) / (WIDTH // HEADS) ** 0.5
        return torch.softmax(scores, dim=-1) @ v


model = Attention().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)

for step in range(10):
    x = torch.randn(BATCH, TIME, WIDTH, device="cuda")
    loss = model(x)[:, :, -1, -1].mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
