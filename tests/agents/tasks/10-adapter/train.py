"""Trains low-rank adapters on a frozen decoder of 7 billion parameters."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


class Adapted(nn.Module):
    """A frozen linear layer with a trainable update of low rank."""

    def __init__(self, inputs: int, outputs: int, rank: int) -> None:
        super().__init__()
        self.base = nn.Linear(inputs, outputs, bias=False)
        self.base.weight.requires_grad_(False)
        self.down = nn.Linear(inputs, rank, bias=False)
        self.up = nn.Linear(rank, outputs, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.base(x) + self.up(self.down(x))


class Layer(nn.Module):
    def __init__(self, width: int, inner: int, heads: int, rank: int) -> None:
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width).requires_grad_(False) for _ in range(2))
        self.q, self.k, self.v, self.o = (Adapted(width, width, rank) for _ in range(4))
        self.gate, self.up = Adapted(width, inner, rank), Adapted(width, inner, rank)
        self.down = Adapted(inner, width, rank)

    def attend(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (part(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (self.q, self.k, self.v))
        return self.o(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attend(self.norms[0](x))
        y = self.norms[1](x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    def __init__(self, vocabulary: int, width: int, inner: int, layers: int, rank: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width).requires_grad_(False)
        self.layers = nn.ModuleList(Layer(width, inner, width // 128, rank) for _ in range(layers))
        self.head = nn.Linear(width, vocabulary, bias=False).requires_grad_(False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embed(ids).requires_grad_()
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False)
        return self.head(x)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--length", type=int, default=1024)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--steps", type=int, default=1500)
    options = parser.parse_args()

    torch.set_default_dtype(torch.bfloat16)
    model = Decoder(32000, 4096, 11008, 32, options.rank).to("cuda")
    optimizer = torch.optim.AdamW([weight for weight in model.parameters() if weight.requires_grad], lr=1e-4)
    for step in range(1, options.steps + 1):
        ids = torch.randint(0, 32000, (options.batch, options.length + 1), device="cuda")
        logits = model(ids[:, :-1]).float()
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
