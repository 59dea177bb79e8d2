"""Serves a decoder of 13 billion parameters: the cache of all streams is allocated at the start, prompts are read in slices."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class ServedLayer(nn.Module):
    def __init__(self, width: int, inner: int, head: int) -> None:
        super().__init__()
        self.head = head
        self.norms = nn.ModuleList(nn.LayerNorm(width, bias=False) for _ in range(2))
        self.query = nn.Linear(width, width, bias=False)
        self.pair = nn.Linear(width, 2 * 8 * head, bias=False)
        self.merge = nn.Linear(width, width, bias=False)
        self.gate, self.up = nn.Linear(width, inner, bias=False), nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x: torch.Tensor, cache: torch.Tensor, stream: int, start: int) -> torch.Tensor:
        y = self.norms[0](x)
        end = start + x.shape[1]
        cache[:, stream, start:end] = self.pair(y)[0].unflatten(-1, (2, 8, self.head)).transpose(0, 1)
        key, value = cache[:, stream, :end].transpose(1, 2)
        query = self.query(y)[0].unflatten(-1, (-1, self.head)).transpose(0, 1)
        repeats = query.shape[0] // 8
        key, value = key.repeat_interleave(repeats, dim=0), value.repeat_interleave(repeats, dim=0)
        mixed = F.scaled_dot_product_attention(query[None], key[None], value[None])
        x = x + self.merge(mixed[0].transpose(0, 1).flatten(1))[None]
        y = self.norms[1](x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--streams", type=int, default=16)
    parser.add_argument("--context", type=int, default=4096)
    parser.add_argument("--slice", type=int, default=2048)
    options = parser.parse_args()

    torch.set_default_dtype(torch.bfloat16)
    vocabulary, width, inner, layers, head = 128000, 5120, 13824, 40, 128
    body = nn.ModuleList(ServedLayer(width, inner, head) for _ in range(layers))
    model = nn.ModuleDict({"embed": nn.Embedding(vocabulary, width), "body": body, "head": nn.Linear(width, vocabulary, bias=False)})
    model.requires_grad_(False).to("cuda")
    caches = [torch.zeros(2, options.streams, options.context, 8, head, device="cuda") for _ in range(layers)]
    with torch.inference_mode():
        for stream in range(options.streams):
            for start in range(0, options.context, options.slice):
                x = model["embed"](torch.randint(0, vocabulary, (1, options.slice), device="cuda"))
                for layer, cache in zip(model["body"], caches, strict=True):
                    x = layer(x, cache, stream, start)
                scores = torch.log_softmax(model["head"](x).float(), dim=-1)
            print(f"stream {stream} ready, best token {scores[0, -1].argmax().item()}", flush=True)


if __name__ == "__main__":
    main()
