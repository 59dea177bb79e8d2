"""Trains a transformer on MIDI events. Attention is written out, since the relative positions enter the scores."""

import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn

EVENTS = 388


class RelativeAttention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.qkv = nn.Linear(width, 3 * width)
        self.merge = nn.Linear(width, width)
        self.slope = nn.Parameter(torch.ones(heads, 1, 1))

    def forward(self, x: torch.Tensor, distance: torch.Tensor, future: torch.Tensor) -> torch.Tensor:
        query, key, value = self.qkv(x).unflatten(-1, (3, self.heads, self.size)).permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(-1, -2) / math.sqrt(self.size)
        scores = scores - self.slope * distance
        scores = scores.masked_fill(future, float("-inf"))
        mixed = torch.softmax(scores, dim=-1) @ value
        return self.merge(mixed.transpose(1, 2).flatten(2))


class Composer(nn.Module):
    def __init__(self, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(EVENTS, width)
        self.attention = nn.ModuleList(RelativeAttention(width, heads) for _ in range(layers))
        self.mlp = nn.ModuleList(nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width)) for _ in range(layers))
        self.head = nn.Linear(width, EVENTS)

    def forward(self, events: torch.Tensor) -> torch.Tensor:
        place = torch.arange(events.shape[1], device=events.device)
        distance = (place[:, None] - place[None, :]).abs().float()
        future = place[None, :] > place[:, None]
        x = self.embed(events)
        for attention, mlp in zip(self.attention, self.mlp, strict=True):
            x = x + attention(x, distance, future)
            x = x + mlp(x)
        return self.head(x)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--length", type=int, default=1024)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--steps", type=int, default=8000)
    options = parser.parse_args()

    model = Composer(options.width, options.heads, options.layers).to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(options.steps):
        events = torch.randint(0, EVENTS, (options.batch, options.length + 1), device="cuda")
        loss = F.cross_entropy(model(events[:, :-1]).transpose(1, 2), events[:, 1:])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 20 == 0:
            print(f"{step}: {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
