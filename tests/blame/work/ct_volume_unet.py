# /// expect
# run = "check"
# vram = "8GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "activations"
# first_finding = ["batch-too-large", "need-exceeds-device"]
# lines = [27, 28, 42, 46, 56, 57]
# why = "at full resolution a map of 32 channels is 4 x 32 x 112^3 x 4 B = 686 MiB; each of the two blocks there saves convolution, norm and ReLU twice (4 x 686), with the 96-channel concatenation of 2058; with the coarser levels about 11.4 + 0.4 of 8 GiB"
# ///
"""Organ segmentation in CT volumes with a small three-dimensional U-Net, batch of four patches."""

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.first = nn.Conv3d(inputs, outputs, 3, padding=1, bias=False)
        self.norm1 = nn.InstanceNorm3d(outputs, affine=True)
        self.second = nn.Conv3d(outputs, outputs, 3, padding=1, bias=False)
        self.norm2 = nn.InstanceNorm3d(outputs, affine=True)

    def forward(self, x):
        x = F.relu(self.norm1(self.first(x)))
        return F.relu(self.norm2(self.second(x)))


class VolumeNet(nn.Module):
    def __init__(self, organs=14, width=32):
        super().__init__()
        self.enter = Block(1, width)
        self.down = Block(width, 2 * width)
        self.bottom = Block(2 * width, 4 * width)
        self.up = Block(6 * width, 2 * width)
        self.leave = Block(3 * width, width)
        self.classify = nn.Conv3d(width, organs, 1)

    def forward(self, x):
        a = self.enter(x)
        b = self.down(F.max_pool3d(a, 2))
        c = self.bottom(F.max_pool3d(b, 2))
        b = self.up(torch.cat([b, F.interpolate(c, scale_factor=2)], dim=1))
        a = self.leave(torch.cat([a, F.interpolate(b, scale_factor=2)], dim=1))
        return self.classify(a)


network = VolumeNet().cuda()
optimizer = torch.optim.Adam(network.parameters(), lr=3e-4)
for step in range(10):
    patch = torch.randn(4, 1, 112, 112, 112).cuda()
    organs = torch.randint(0, 14, (4, 112, 112, 112)).cuda()
    optimizer.zero_grad()
    logits = network(patch)
    loss = F.cross_entropy(logits, organs)
    loss.backward()
    optimizer.step()
    print(step, loss.item())
