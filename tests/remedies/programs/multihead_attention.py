"""Trains one layer of PyTorch's own attention under a large head; the attention's weights are not used."""

import torch
from torch import nn

BATCH, HEADS, TIME, WIDTH, CLASSES = 4, 8, 1024, 256, 8192


class Block(nn.Module):
    """Attention, added to its input."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, bias=False, batch_first=True)

    def forward(self, x):
        out, _ = self.attention(x, x, x)
        return x + out


model = nn.Sequential(Block(), nn.Linear(WIDTH, CLASSES, bias=False)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)

for step in range(10):
    x = torch.randn(BATCH, TIME, WIDTH, device="cuda")
    loss = model(x)[..., 0].mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
