"""Trains an MLP-Mixer on tiles of microscopy images."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class MixerBlock(nn.Module):
    def __init__(self, patches: int, width: int) -> None:
        super().__init__()
        self.norm_patches = nn.LayerNorm(width)
        self.over_patches = nn.Sequential(nn.Linear(patches, 2 * patches), nn.GELU(), nn.Linear(2 * patches, patches))
        self.norm_channels = nn.LayerNorm(width)
        self.over_channels = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.over_patches(self.norm_patches(x).transpose(1, 2)).transpose(1, 2)
        return x + self.over_channels(self.norm_channels(x))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.0001)
    parser.add_argument("--patches", type=int, default=1024)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--blocks", type=int, default=12)
    parser.add_argument("--steps", type=int, default=9000)
    options = parser.parse_args()

    body = [MixerBlock(options.patches, options.width) for _ in range(options.blocks)]
    model = nn.Sequential(nn.Linear(768, options.width), *body, nn.LayerNorm(options.width)).to("cuda")
    head = nn.Linear(options.width, 19).to("cuda")
    optimizer = torch.optim.AdamW([*model.parameters(), *head.parameters()], lr=options.lr)
    for step in range(1, options.steps + 1):
        tiles = torch.randn(options.batch_size, options.patches, 768).to("cuda")
        labels = torch.randint(0, 19, (options.batch_size,)).to("cuda")
        loss = F.cross_entropy(head(model(tiles).mean(dim=1)), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 50 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
