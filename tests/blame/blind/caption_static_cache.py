# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "data-on-device"
# first_finding = ["need-exceeds-device"]
# no_finding = ["growing-collection", "dataset-on-gpu"]
# lines = [23, 24]
# why = "30 layers have keys and values of 12 x 16 x 2048 x 64 x 2 B = 48 MiB each, 2880 MiB, and the weights in bfloat16 are 30 x 8 x 1024^2 x 2 B = 480 MiB and two tables of 39: 3440 of 2662 MiB, full at about the 22nd layer, before anything is computed"
# ///
"""Captions pictures of a museum; the decoder has a cache of fixed size."""

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention


class StaticCache:
    def __init__(self, layers, pictures, heads, length, dim, **place):
        self.keys, self.values, self.filled = [], [], 0
        for _ in range(layers):
            self.keys.append(torch.zeros(pictures, heads, length, dim, **place))
            self.values.append(torch.zeros(pictures, heads, length, dim, **place))

    def extend(self, layer, k, v):
        self.keys[layer][:, :, self.filled] = k
        self.values[layer][:, :, self.filled] = v
        return self.keys[layer][:, :, : self.filled + 1], self.values[layer][:, :, : self.filled + 1]


class Decoder(nn.Module):
    def __init__(self, layers, heads, dim, words):
        super().__init__()
        width = heads * dim
        self.heads, self.dim = heads, dim
        self.embed, self.head = nn.Embedding(words, width), nn.Linear(width, words, bias=False)
        self.qkv = nn.ModuleList(nn.Linear(width, 3 * width, bias=False) for _ in range(layers))
        self.out = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(layers))
        self.up = nn.ModuleList(nn.Linear(width, 2 * width, bias=False) for _ in range(layers))
        self.down = nn.ModuleList(nn.Linear(2 * width, width, bias=False) for _ in range(layers))

    def forward(self, words, cache):
        x = self.embed(words)
        for index, (qkv, out, up, down) in enumerate(zip(self.qkv, self.out, self.up, self.down)):
            q, k, v = qkv(x).view(len(x), 3, self.heads, self.dim).unbind(1)
            mixed = scaled_dot_product_attention(q.unsqueeze(2), *cache.extend(index, k, v))
            x = x + out(mixed.flatten(1))
            x = x + down(up(x).relu())
        cache.filled += 1
        return self.head(x).argmax(-1)


def caption(pictures=12, layers=30, heads=16, dim=64, vocabulary=20_000, length=2048):
    place = {"device": "cuda", "dtype": torch.bfloat16}
    decoder = Decoder(layers, heads, dim, vocabulary).to(**place)
    cache = StaticCache(layers, pictures, heads, length, dim, **place)
    words = torch.zeros(pictures, dtype=torch.long, device="cuda")
    with torch.no_grad():
        return torch.stack([words := decoder(words, cache) for _ in range(16)], dim=1)


print(caption().shape)
