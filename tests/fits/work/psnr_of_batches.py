# /// expect
# run = "check"
# vram = "6GiB"
# kind = 10
# truth = "fits"
# verdict = ["fits"]
# need_gib = [1.0, 4.6]
# why = "8 images x 32 channels x 512 x 512 x 4 B = 0.25 GiB, some six of them"
# ///
"""Super-resolution that prints PSNR after every step: the logarithm of one over the error."""

import math

import torch
from torch import nn

BATCH, SIDE, CHANNELS, STEPS = 8, 256, 32, 3


class Upscaler(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, CHANNELS * 4, 3, padding=1), nn.PixelShuffle(2), nn.PReLU())
        self.out = nn.Conv2d(CHANNELS, 3, 3, padding=1)

    def forward(self, x):
        return self.out(self.features(x))


def psnr(mse):
    return 10 * math.log10(1 / mse)


model = Upscaler().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(STEPS):
    sharp = torch.rand(BATCH, 3, 2 * SIDE, 2 * SIDE, device="cuda")
    small = nn.functional.avg_pool2d(sharp, 2)
    loss = nn.functional.mse_loss(model(small), sharp)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step}: {psnr(loss.item()):.2f} dB")
