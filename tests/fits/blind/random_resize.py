# /// expect
# run = "check"
# vram = "6GiB"
# kind = 7
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [29]
# need_gib = [8, 40]
# why = "the host draws sizes of 896, 960 or 1024 with a seed: the smallest takes 32 x 64 x 896 x 896 x 4 B = 6.1 GiB for one activation"
# ///
"""Multi-scale training: Python's random draws each batch's size from three large ones."""

import random

import torch
from torch import nn

BATCH, CHANNELS, STEPS = 32, 64, 200
SIZES = [896, 960, 1024]


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, CHANNELS, 3, padding=1)
        self.objectness = nn.Conv2d(CHANNELS, 1, 1)

    def forward(self, x):
        return self.objectness(torch.relu_(self.stem(x)))


random.seed(17)
model = Detector().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for step in range(STEPS):
    size = random.choice(SIZES)
    images = torch.rand(BATCH, 3, size, size, device="cuda")
    loss = model(images).sigmoid().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
