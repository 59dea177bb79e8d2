"""Generates continuations of many prompts at once with a decoder of 4 billion parameters."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class CachedLayer(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm, self.norm_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.merge = nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor, cache: torch.Tensor, position: int) -> torch.Tensor:
        query, key, value = self.qkv(self.norm(x)).unflatten(-1, (3, self.heads, -1)).unbind(dim=-3)
        cache[0][:, position] = key[:, 0]
        cache[1][:, position] = value[:, 0]
        past = cache[:, :, : position + 1].transpose(2, 3)
        mixed = F.scaled_dot_product_attention(query.transpose(1, 2), past[0], past[1])
        x = x + self.merge(mixed.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norm_mlp(x))))


class Generator(nn.Module):
    def __init__(self, vocabulary: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(CachedLayer(width, heads) for _ in range(layers))

    def forward(self, ids: torch.Tensor, caches: list[torch.Tensor], position: int) -> torch.Tensor:
        x = self.embed(ids)
        for layer, cache in zip(self.layers, caches, strict=True):
            x = layer(x, cache, position)
        return x[:, -1] @ self.embed.weight.T


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--dtype", choices=["float32", "float16", "bfloat16"], default="float32")
    parser.add_argument("--sequences", type=int, default=12)
    parser.add_argument("--cache", type=int, default=1024, help="tokens for which the caches have memory")
    parser.add_argument("--tokens", type=int, default=1024, help="tokens to generate")
    parser.add_argument("--vocabulary", type=int, default=32000)
    parser.add_argument("--width", type=int, default=3200)
    parser.add_argument("--heads", type=int, default=32)
    parser.add_argument("--layers", type=int, default=32)
    return parser.parse_args()


@torch.inference_mode()
def main() -> None:
    options = parse()
    torch.manual_seed(11)
    dtype = getattr(torch, options.dtype)
    model = Generator(options.vocabulary, options.width, options.heads, options.layers)
    model = model.to(dtype).to("cuda").eval()
    shape = (2, options.sequences, options.cache, options.heads, options.width // options.heads)
    caches = [torch.zeros(shape, dtype=dtype, device="cuda") for _ in range(options.layers)]
    ids = torch.arange(1, options.sequences + 1, device="cuda")[:, None]
    words = []
    for position in range(options.tokens):
        ids = model(ids, caches, position).argmax(dim=-1, keepdim=True)
        words.append(ids.cpu())
    for line in torch.cat(words, dim=1).tolist():
        print(line)


if __name__ == "__main__":
    main()
