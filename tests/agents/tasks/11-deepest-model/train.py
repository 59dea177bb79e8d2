"""Pretrains a decoder whose layers are computed again in backward. The depth is an option."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


class DecoderLayer(nn.Module):
    def __init__(self, width: int, groups: int) -> None:
        super().__init__()
        self.head_size = 128
        self.query = nn.Linear(width, width, bias=False)
        self.key_value = nn.Linear(width, 2 * groups * self.head_size, bias=False)
        self.merge = nn.Linear(width, width, bias=False)
        self.gate_up = nn.Linear(width, 2 * 3 * width, bias=False)
        self.down = nn.Linear(3 * width, width, bias=False)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)

    def mix(self, x: torch.Tensor) -> torch.Tensor:
        query = self.query(x).unflatten(-1, (-1, self.head_size)).transpose(1, 2)
        key, value = self.key_value(x).unflatten(-1, (2, -1, self.head_size)).permute(2, 0, 3, 1, 4)
        repeats = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(repeats, dim=1), value.repeat_interleave(repeats, dim=1)
        return self.merge(F.scaled_dot_product_attention(query, key, value, is_causal=True).transpose(1, 2).flatten(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.mix(self.first(x))
        gate, up = self.gate_up(self.second(x)).chunk(2, dim=-1)
        return x + self.down(F.silu(gate) * up)


class Decoder(nn.Module):
    def __init__(self, vocabulary: int, width: int, layers: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(DecoderLayer(width, groups=8) for _ in range(layers))
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embed(ids)
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False)
        return self.head(x)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--width", type=int, default=4096)
    parser.add_argument("--vocabulary", type=int, default=32768)
    parser.add_argument("--length", type=int, default=2048)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--steps", type=int, default=100000)
    options = parser.parse_args()

    model = Decoder(options.vocabulary, options.width, options.layers).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1.5e-4, betas=(0.9, 0.95), fused=True)
    for step in range(1, options.steps + 1):
        ids = torch.randint(0, options.vocabulary, (options.batch, options.length + 1), device="cuda")
        loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
