# /// expect
# run = "check"
# vram = "6GiB"
# kind = 1
# truth = "fits"
# verdict = ["fits"]
# need_gib = [0.6, 3.8]
# why = "the organ fills 96 x 96 x 96 voxels of 384 x 384 x 384: activations of 32 channels have 0.1 GiB; for the whole volume 6.75 GiB each"
# ///
"""Organ segmentation: volumes are cropped to what is not background before the network sees them."""

import torch
from torch import nn

SIDE, ORGAN, CHANNELS, STEPS = 384, 96, 32, 3


def scan(step):
    volume = torch.zeros(SIDE, SIDE, SIDE, dtype=torch.uint8)
    corner = 40 + 10 * step
    volume[corner : corner + ORGAN, corner : corner + ORGAN, corner : corner + ORGAN] = 1 + step
    return volume


def crop(volume):
    box = []
    for axes in ((1, 2), (0, 2), (0, 1)):
        filled = volume.amax(axes).nonzero().squeeze(1)
        box.append(slice(int(filled.min()), int(filled.max()) + 1))
    return volume[tuple(box)]


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv3d(1, CHANNELS, 1)
        self.second = nn.Conv3d(CHANNELS, 2, 1)

    def forward(self, x):
        return self.second(self.first(x).relu())


model = UNet().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(STEPS):
    organ = crop(scan(step).cuda())
    logits = model(organ[None, None].float())
    loss = nn.functional.cross_entropy(logits, (organ > 0).long()[None])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("cropped to", tuple(organ.shape))
