"""Continues the pretraining of a small multilingual model with a vocabulary of 128,256."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


class Mixer(nn.Module):
    """A gated mean over the past in place of attention."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.value = nn.Linear(width, width)
        self.gate = nn.Linear(width, width)
        self.inner = nn.Linear(width, 2 * width)
        self.outer = nn.Linear(2 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(x)
        count = torch.arange(1, x.shape[1] + 1, device=x.device)[None, :, None]
        x = x + torch.cumsum(self.value(y), dim=1) / count * torch.sigmoid(self.gate(y))
        return x + self.outer(F.gelu(self.inner(x)))


class Multilingual(nn.Module):
    def __init__(self, vocabulary: int, width: int, layers: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.mixers = nn.ModuleList(Mixer(width) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.embed.weight

    def features(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embed(ids)
        for mixer in self.mixers:
            x = mixer(x)
        return self.norm(x)


def loss_of(model: Multilingual, ids: torch.Tensor) -> torch.Tensor:
    states, targets = model.features(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten()
    parts = zip(states.split(1024), targets.split(1024), strict=True)
    return sum(checkpoint(summed, model.head, *part, use_reentrant=False) for part in parts) / len(targets)


def summed(head: nn.Linear, states: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(head(states).float(), targets, reduction="sum")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--length", type=int, default=1024)
    parser.add_argument("--vocabulary", type=int, default=128256)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    torch.manual_seed(options.seed)
    model = Multilingual(options.vocabulary, options.width, options.layers).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    for step in range(1, options.steps + 1):
        ids = torch.randint(0, options.vocabulary, (options.batch, options.length + 1), device="cuda")
        loss = loss_of(model, ids)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        print(f"step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
