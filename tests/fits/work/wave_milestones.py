# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "from step 240 on a clip has 262,144 samples: a map of 8 x 64 x 262,144 x 4 B is 512 MiB; the outputs of four ReLUs are saved, 2 GiB, with 1.52 free"
# ///
"""Dilated audio network; the length of the clips goes up at milestones."""

from bisect import bisect_right

import torch
from torch import nn

MILESTONES, SAMPLES = [80, 160, 240], [1_024, 4_096, 16_384, 262_144]


def stack(channels=64):
    for i in range(4):
        yield nn.Conv1d(channels if i else 1, channels, 3, padding=2**i, dilation=2**i)
        yield nn.ReLU()
    yield nn.Conv1d(channels, 1, 1)


wavenet = nn.Sequential(*stack()).to("cuda")
optimizer = torch.optim.Adam(wavenet.parameters(), lr=3e-4)
for step in range(280):
    samples = SAMPLES[bisect_right(MILESTONES, step)]
    wave = torch.randn(8, 1, samples, device="cuda")
    loss = (wavenet(wave)[..., :-1] - wave[..., 1:]).pow(2).mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
