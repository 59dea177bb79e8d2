"""Fine-tunes an encoder on whole documents, one document a step."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

LEVELS = ("none", "mlp", "attention", "block")


class SelfAttention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.output = nn.Linear(width, width, bias=False)

    def split(self, x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.norm(x)
        mixed = F.scaled_dot_product_attention(self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x)))
        return self.output(mixed.transpose(1, 2).flatten(2))


class GatedMlp(nn.Module):
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.gate = nn.Linear(width, inner, bias=False)
        self.up = nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.norm(x)
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    def __init__(self, width: int, heads: int, recompute: str) -> None:
        super().__init__()
        self.attention = SelfAttention(width, heads)
        self.mlp = GatedMlp(width, 4 * width)
        self.recompute = recompute

    def part(self, name: str, x: torch.Tensor) -> torch.Tensor:
        module = getattr(self, name)
        return checkpoint(module, x, use_reentrant=False) if self.recompute == name else module(x)

    def inside(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.part("attention", x)
        return x + self.part("mlp", x)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return checkpoint(self.inside, x, use_reentrant=False) if self.recompute == "block" else self.inside(x)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--recompute", choices=LEVELS, default="none", help="what is computed again in backward, from the cheapest to the dearest")
    parser.add_argument("--length", type=int, default=32768)
    parser.add_argument("--layers", type=int, default=14)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=3000)
    return parser.parse_args()


def main() -> None:
    options = parse()
    torch.set_default_dtype(torch.bfloat16)
    embed = nn.Embedding(4096, options.width)
    blocks = nn.ModuleList(Block(options.width, options.width // 64, options.recompute) for _ in range(options.layers))
    model = nn.ModuleDict({"embed": embed, "blocks": blocks, "head": nn.Linear(options.width, 2)}).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    for step in range(1, options.steps + 1):
        ids = torch.randint(0, 4096, (1, options.length), device="cuda")
        label = torch.randint(0, 2, (1,), device="cuda")
        x = model["embed"](ids)
        for block in model["blocks"]:
            x = block(x)
        loss = F.cross_entropy(model["head"](x.mean(dim=1)).float(), label)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
