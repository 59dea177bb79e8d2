"""Trains an encoder of sentences by contrast, and validates by ranking all pairs of a held-out set."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class SentenceEncoder(nn.Module):
    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(30000, width)
        self.convolve = nn.ModuleList(nn.Linear(3 * width, 2 * width) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embed(ids)
        for convolve, norm in zip(self.convolve, self.norms, strict=True):
            y = norm(x)
            window = torch.cat([y.roll(1, dims=1), y, y.roll(-1, dims=1)], dim=-1)
            value, gate = convolve(window).chunk(2, dim=-1)
            x = x + value * torch.sigmoid(gate)
        return F.normalize(x.mean(dim=1), dim=-1)


def pairs(count: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randint(0, 30000, (count, length), device="cuda"), torch.randint(0, 30000, (count, length), device="cuda")


def contrast(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(left @ right.T / 0.05, torch.arange(len(left), device=left.device))


def validate(encoder: SentenceEncoder, batches: int, options: argparse.Namespace) -> float:
    """The mean rank of the right partner, over all sentences of the held-out set."""
    encoder.eval()
    lefts, rights = [], []
    for _ in range(batches):
        left, right = pairs(options.batch, options.length)
        lefts.append(encoder(left))
        rights.append(encoder(right))
    scores = torch.cat(lefts) @ torch.cat(rights).T
    own = scores.diagonal()[:, None]
    encoder.train()
    return (scores > own).sum(dim=1).float().mean().item()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--steps-per-epoch", type=int, default=800)
    parser.add_argument("--validation-batches", type=int, default=80)
    options = parser.parse_args()

    torch.manual_seed(3)
    encoder = SentenceEncoder(options.width, options.layers).to("cuda")
    optimizer = torch.optim.AdamW(encoder.parameters(), lr=2e-5)
    for epoch in range(1, options.epochs + 1):
        for _ in range(options.steps_per_epoch):
            left, right = pairs(options.batch, options.length)
            loss = contrast(encoder(left), encoder(right))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
        print(f"epoch {epoch} rank {validate(encoder, options.validation_batches, options):.2f}", flush=True)


if __name__ == "__main__":
    main()
