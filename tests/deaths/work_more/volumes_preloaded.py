# /// expect
# run = "run"
# vram = "4GiB"
# ends = "error"
# status = 1
# line = 32
# requested_bytes = 67108864
# says_any = ["samples", "dataset", 32]
# culprit = 32
# caught = 1
# ///
"""Preloads a dataset to the GPU and runs out; the loader swallows that, and a RuntimeError about missing samples ends it later."""

from dataclasses import dataclass, field

import torch
from torch import nn

SAMPLES = 128


@dataclass
class Volumes:
    """Medical volumes of 64 MiB each, on the GPU to save time."""

    samples: list[torch.Tensor] = field(default_factory=list)

    def preload(self) -> None:
        """Moves all samples to the GPU."""
        try:
            volume = torch.zeros(256, 256, 256)
            self.samples = [volume.to("cuda") for _ in range(SAMPLES)]
        except torch.OutOfMemoryError:
            pass  # falls back to reading from the disk

    def __getitem__(self, index: int) -> torch.Tensor:
        if not self.samples:
            raise RuntimeError("the volumes were not read: is the folder empty?")
        return self.samples[index]


def train(volumes: Volumes) -> None:
    """Trains a filter."""
    net = nn.Conv3d(1, 1, 3).cuda()
    for index in range(SAMPLES):
        net(volumes[index][None, None]).mean().backward()


volumes = Volumes()
volumes.preload()
train(volumes)
