"""Self-attention with its matrix written out."""

import math

import torch
from torch import nn


class SelfAttention(nn.Module):
    """Attends from each position to all others."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(width, 3 * width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1)
        scores = scores / math.sqrt(width // self.heads)
        return (scores.softmax(dim=-1) @ v).transpose(1, 2).reshape(batch, length, width)
