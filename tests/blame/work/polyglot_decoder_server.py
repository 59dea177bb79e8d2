# /// expect
# run = "check"
# vram = "16GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "weights"
# first_finding = ["need-exceeds-device"]
# lines = [35, 36, 37, 38, 39, 53, 65]
# why = "bfloat16: a layer has 4 x 5120^2 + 3 x 5120 x 13824 = 317.2 M weights = 605 MiB; 32 layers are 18.9 GiB, with two tables of 64000 x 5120 (625 MiB each) 20.1 GiB, and the device has 15.6"
# ///
"""Serves a multilingual decoder with random weights, token by token, without a cache."""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Config:
    vocabulary: int = 64_000
    width: int = 5120
    hidden: int = 13_824
    heads: int = 40
    layers: int = 32


class Layer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.norm_in = nn.RMSNorm(config.width)
        self.norm_out = nn.RMSNorm(config.width)
        self.qkv = nn.Linear(config.width, 3 * config.width, bias=False)
        self.out = nn.Linear(config.width, config.width, bias=False)
        self.gate = nn.Linear(config.width, config.hidden, bias=False)
        self.up = nn.Linear(config.width, config.hidden, bias=False)
        self.down = nn.Linear(config.hidden, config.width, bias=False)

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = self.qkv(self.norm_in(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, w))
        h = self.norm_out(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Decoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed = nn.Embedding(config.vocabulary, config.width)
        self.layers = nn.ModuleList([Layer(config) for _ in range(config.layers)])
        self.head = nn.Linear(config.width, config.vocabulary, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(x[:, -1])


torch.set_default_dtype(torch.bfloat16)
with torch.device("cuda"), torch.inference_mode():
    model = Decoder(Config())
    tokens = torch.randint(0, 64_000, (1, 32))
    for _ in range(8):
        tokens = torch.cat([tokens, model(tokens).argmax(-1, keepdim=True)], dim=1)
print(tokens.shape)
