# /// expect
# run = "check"
# vram = "2GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "tensors-kept"
# no_finding = ["growing-collection", "saved-intermediates"]
# why = "features are 64 x 1024 x 512 x 4 B = 128 MiB a batch, and the deque keeps the last four, 512 MiB; a forward needs some 400 MiB; twelve batches would be 1536 MiB and not fit with it into 1638"
# ///
"""Compares radar scenes with those of the last four batches."""

from collections import deque

import torch
from torch import nn


class PatchEncoder(nn.Module):
    def __init__(self, patch=8, width=512):
        super().__init__()
        self.patch = patch
        self.inner = nn.Sequential(nn.Linear(patch * patch, width), nn.ReLU(inplace=True), nn.Linear(width, width))

    def forward(self, scene):
        pieces = scene.unfold(1, self.patch, self.patch).unfold(2, self.patch, self.patch)
        return self.inner(pieces.flatten(3).flatten(1, 2))


def scenes(batches, batch_size=64, side=256):
    generator = torch.Generator().manual_seed(11)
    for _ in range(batches):
        yield torch.randn(batch_size, side, side, generator=generator)


@torch.no_grad()
def novelty(encoder, batches):
    encoder.eval()
    recent, scores = deque(maxlen=4), []
    for scene in scenes(batches):
        features = encoder(scene.cuda())
        centre = features.mean(dim=(0, 1))
        scores.append(sum((centre - other.mean(dim=(0, 1))).norm().item() for other in recent))
        recent.append(features)
    return scores


if __name__ == "__main__":
    print(novelty(PatchEncoder().cuda(), batches=12))
