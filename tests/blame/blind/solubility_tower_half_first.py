# /// expect
# run = "check"
# vram = "2GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "loaded-twice"
# no_finding = ["weights-loaded-twice"]
# why = "12 layers of 2 x 2560 x 10240 x 4 B = 200 MiB are 2400 MiB in float32, but they are halved on the host and 1200 of 1638 MiB on the device; a batch has 512 x 10240 x 2 B = 10 MiB in its widest map"
# ///
"""Scores the solubility of molecules from their fingerprints."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True)
class Settings:
    bits: int = 2048
    width: int = 2560
    layers: int = 12
    batch: int = 512


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        return x + self.body(x)


class Tower(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.enter = nn.Linear(settings.bits, settings.width)
        self.layers = nn.ModuleList(Residual(settings.width) for _ in range(settings.layers))
        self.leave = nn.Linear(settings.width, 1)

    def forward(self, fingerprints):
        x = self.enter(fingerprints)
        for layer in self.layers:
            x = layer(x)
        return self.leave(x).squeeze(1)

    @classmethod
    def for_inference(cls, settings):
        tower = cls(settings).eval()
        tower.half()
        tower.cuda()
        return tower


settings = Settings()
tower = Tower.for_inference(settings)
with torch.inference_mode():
    for plate in range(5):
        fingerprints = torch.randint(0, 2, (settings.batch, settings.bits), dtype=torch.uint8)
        print(plate, tower(fingerprints.cuda().half()).float().mean().item())
