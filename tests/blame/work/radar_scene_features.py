# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "tensors-kept"
# first_finding = ["growing-collection", "saved-intermediates"]
# lines = [21, 25, 39, 40]
# why = "features are 64 x 1024 x 512 x 4 B = 128 MiB a batch and 40 batches of them stay on the device, 5120 of 3686 MiB, full at about the 26th; a forward needs some 600 MiB"
# ///
"""Encodes radar scenes into patch features, for a later clustering on the CPU."""

import torch
from torch import nn


class PatchEncoder(nn.Module):
    def __init__(self, patch=8, width=512):
        super().__init__()
        self.patch = patch
        self.inner = nn.Sequential(nn.Linear(patch * patch, width), nn.ReLU(), nn.Linear(width, width))

    def forward(self, scene):
        pieces = scene.unfold(1, self.patch, self.patch).unfold(2, self.patch, self.patch)
        return self.inner(pieces.flatten(3).flatten(1, 2))


def scenes(batches, batch_size=64, side=256):
    generator = torch.Generator().manual_seed(11)
    for _ in range(batches):
        yield torch.randn(batch_size, side, side, generator=generator)


@torch.no_grad()
def encode(encoder, batches):
    encoder.eval()
    collected = []
    for index, scene in enumerate(scenes(batches)):
        features = encoder(scene.cuda())
        collected.append(features)
        if index % 10 == 0:
            print("encoded", index)
    return torch.cat([part.cpu().mean(dim=1) for part in collected])


if __name__ == "__main__":
    print(encode(PatchEncoder().cuda(), batches=40).shape)
