# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "last-iteration"
# first_finding = ["saved-intermediates"]
# lines = [49, 50, 53]
# saves_mib = 3232
# why = "a forward saves 25 tensors of 8192 x 4096 x 4 B = 128 MiB and its input, 3232 MiB; every third clip has no count and is skipped before backward, so that `density` and `loss` keep its graph during the next forward: 2 x 3232, the weights of 784 MiB and the start of backward, 7512 of 5734 MiB; with the skipped graph dropped 4280"
# ///
"""Crowd counting in video clips of which some have no count."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Clip:
    frames: torch.Tensor
    count: float | None


def clips(number):
    for index in range(number):
        yield Clip(torch.randn(8192, 1024), None if index % 3 == 1 else float(index))


class DensityNet(nn.Module):
    def __init__(self, width=4096, depth=12):
        super().__init__()
        self.inner = nn.Linear(1024, width)
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        x = nn.functional.silu(self.inner(x))
        for layer in self.layers:
            x = nn.functional.silu(layer(x))
        return self.out(x)


model = DensityNet().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
skipped = 0
for clip in clips(6):
    density = model(clip.frames.cuda())
    loss = (density.sum() - (clip.count or 0)).abs()
    if clip.count is None:
        skipped += 1
        continue
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print("skipped", skipped)
