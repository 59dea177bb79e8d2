"""Trains a retrieval head over recordings of growing length, and keeps the features of each recording on the GPU."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Listener(nn.Module):
    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.enter = nn.Linear(80, width)
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        x = self.enter(frames)
        for layer in self.layers:
            x = x + F.silu(layer(x))
        return x


def frames_of(step: int, options: argparse.Namespace) -> int:
    """Recordings are sorted by length: a curriculum."""
    return options.first + step * options.growth


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--recordings", type=int, default=70)
    parser.add_argument("--first", type=int, default=24000, help="frames of the shortest recording")
    parser.add_argument("--growth", type=int, default=1700, help="frames by which each recording is longer than the one before")
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=4)
    options = parser.parse_args()

    model = Listener(options.width, options.layers).to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    bank = []
    for step in range(options.recordings):
        frames = torch.randn(frames_of(step, options), 80, device="cuda")
        features = model(frames)
        summary = features.mean(dim=0)
        loss = summary.var() + sum(F.mse_loss(summary, old[:: len(old) // 64].float().mean(dim=0)) for old in bank)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        bank.append(features.detach().to(torch.bfloat16))
        if step % 10 == 0:
            print(f"recording {step} frames {frames.shape[0]} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
