"""The layers of the model."""

import torch
from torch import nn
from torch.utils import checkpoint as ckpt


class MixerLayer(nn.Module):
    def __init__(self, tokens, dim):
        super().__init__()
        self.ln_t = nn.LayerNorm(dim)
        self.tokens = nn.Sequential(nn.Linear(tokens, 2 * tokens), nn.GELU(), nn.Linear(2 * tokens, tokens))
        self.ln_c = nn.LayerNorm(dim)
        self.channels = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        x = x + self.tokens(self.ln_t(x).mT).mT
        return x + self.channels(self.ln_c(x))


class Mixer(nn.Module):
    def __init__(self, tokens=196, dim=320, depth=12, classes=1000, thrifty=False):
        super().__init__()
        self.thrifty = thrifty
        self.inp = nn.Linear(768, dim)
        self.stack = nn.ModuleList(MixerLayer(tokens, dim) for _ in range(depth))
        self.out = nn.Linear(dim, classes)

    def forward(self, x):
        x = self.inp(x)
        for layer in self.stack:
            if self.thrifty and torch.is_grad_enabled():
                x = ckpt.checkpoint(layer, x, use_reentrant=True)
            else:
                x = layer(x)
        return self.out(x.mean(1))
