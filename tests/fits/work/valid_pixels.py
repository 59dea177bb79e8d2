# /// expect
# run = "check"
# vram = "6.5GiB"
# kind = 1
# truth = "fits"
# verdict = ["fits"]
# need_gib = [4.3, 5.4]
# open = "does not fit, expected fits"
# why = "logits 8 x 1024 x 1024 x 64 x 4 B = 2 GiB and their gradient 2 GiB; 2 % of the pixels are valid (0.04 GiB a copy), half of them would add 3 GiB"
# ///
"""Sparse depth supervision: the loss is taken where the LiDAR hit, 2 % of the pixels; the mask comes with the data."""

import torch
import torch.nn.functional as F
from torch import nn

BATCH, SIDE, BINS, SHARE, STEPS = 8, 1024, 64, 50, 3


class DepthBins(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(3, BINS)

    def forward(self, pixels):
        return self.head(pixels)


def kitti_like(step):
    generator = torch.Generator().manual_seed(step)
    pixels = torch.rand(BATCH, SIDE, SIDE, 3, generator=generator)
    valid = torch.zeros(BATCH, SIDE, SIDE, dtype=torch.bool)
    valid.view(-1)[torch.randperm(valid.numel(), generator=generator)[: valid.numel() // SHARE]] = True
    depth = torch.randint(BINS, (BATCH, SIDE, SIDE), generator=generator)
    return pixels, depth, valid


model = DepthBins().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(STEPS):
    pixels, depth, valid = (t.cuda() for t in kitti_like(step))
    logits = model(pixels)
    loss = F.cross_entropy(logits[valid], depth[valid])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    del logits
