# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "weights"
# first_finding = ["need-exceeds-device"]
# lines = [31, 32, 33, 43, 52]
# why = "an expert is 3 x 4096 x 14336 x 4 B = 672 MiB and twelve of them are 8064 MiB; 5734 MiB are there, so the ninth does not fit, and nothing else is on the device yet"
# ///
"""Throughput of a sparse feed-forward layer with twelve experts, two of them per token."""

from dataclasses import dataclass

import torch
from torch import nn
import torch.nn.functional as F


@dataclass
class Config:
    width: int = 4096
    hidden: int = 14336
    experts: int = 12
    tokens: int = 1024


class Expert(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gate = nn.Linear(config.width, config.hidden, bias=False, device="cuda")
        self.up = nn.Linear(config.width, config.hidden, bias=False, device="cuda")
        self.down = nn.Linear(config.hidden, config.width, bias=False, device="cuda")

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class SparseLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.router = nn.Linear(config.width, config.experts, bias=False, device="cuda")
        self.experts = nn.ModuleList(Expert(config) for _ in range(config.experts))

    def forward(self, x):
        weights, _ = self.router(x).softmax(dim=-1).topk(2, dim=-1)
        pieces = x.chunk(len(self.experts))
        return torch.cat([e(p) for e, p in zip(self.experts, pieces)]) * weights.sum(dim=-1, keepdim=True)


config = Config()
layer = SparseLayer(config)
with torch.no_grad():
    for _ in range(3):
        out = layer(torch.randn(config.tokens, config.width, device="cuda"))
print(out.shape)
