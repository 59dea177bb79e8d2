"""Trains a vision transformer on patches of satellite images."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn

CLASSES = 45


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, 3 * width)
        self.merge = nn.Linear(width, width)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        parts = self.project(tokens).chunk(3, dim=-1)
        query, key, value = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
        return self.merge(F.scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2))


class Encoder(nn.Module):
    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__()
        width = options.width
        self.patches = nn.Linear(3 * options.patch**2, width)
        self.position = nn.Parameter(torch.zeros((options.image // options.patch) ** 2, width))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2 * options.layers))
        self.attention = nn.ModuleList(Attention(width, options.heads) for _ in range(options.layers))
        self.mlp = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)) for _ in range(options.layers)
        )
        self.head = nn.Linear(width, CLASSES)

    def forward(self, patches: torch.Tensor) -> torch.Tensor:
        tokens = self.patches(patches) + self.position
        for index, (attention, mlp) in enumerate(zip(self.attention, self.mlp, strict=True)):
            tokens = tokens + attention(self.norms[2 * index](tokens))
            tokens = tokens + mlp(self.norms[2 * index + 1](tokens))
        return self.head(tokens.mean(dim=1))


def images(options: argparse.Namespace) -> tuple[torch.Tensor, torch.Tensor]:
    tokens = (options.image // options.patch) ** 2
    return torch.randn(options.batch_size, tokens, 3 * options.patch**2), torch.randint(0, CLASSES, (options.batch_size,))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=64, help="images per forward pass")
    parser.add_argument("--accumulate", type=int, default=1, help="forward passes per optimizer step")
    parser.add_argument("--steps", type=int, default=5000, help="optimizer steps")
    parser.add_argument("--image", type=int, default=512)
    parser.add_argument("--patch", type=int, default=16)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--heads", type=int, default=16)
    parser.add_argument("--layers", type=int, default=12)
    return parser.parse_args()


def main() -> None:
    options = parse()
    model = Encoder(options).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.05)
    for step in range(1, options.steps + 1):
        for _ in range(options.accumulate):
            patches, labels = images(options)
            logits = model(patches.to("cuda", non_blocking=True))
            loss = F.cross_entropy(logits, labels.to("cuda"), label_smoothing=0.1) / options.accumulate
            loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 20 == 0:
            print(f"step {step} loss {loss.item() * options.accumulate:.4f}", flush=True)


if __name__ == "__main__":
    main()
