# /// expect
# run = "check"
# vram = "8GiB"
# kind = 5
# truth = "fits"
# verdict = ["fits"]
# not_says = ["so far"]
# need_gib = [2.2, 5.0]
# why = "ten thousand equal steps and nothing else: 16 images x 32 channels x 512 x 512 x 4 B = 0.5 GiB for each of three outputs, two gradients on top"
# ///
"""Trains a small denoising network, ten thousand equal steps; nothing comes after."""

import torch
from torch import nn

BATCH, SIDE, CHANNELS, STEPS = 16, 512, 32, 10_000


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(1, CHANNELS, 3, padding=1)
        self.middle = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1)
        self.up = nn.Conv2d(CHANNELS, 1, 3, padding=1)

    def forward(self, x):
        h = torch.relu(self.down(x))
        return x - self.up(torch.relu(self.middle(h)))


def main():
    model = Denoiser().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in range(STEPS):
        clean = torch.rand(BATCH, 1, SIDE, SIDE, device="cuda")
        noisy = clean + 0.1 * torch.randn_like(clean)
        loss = (model(noisy) - clean).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
