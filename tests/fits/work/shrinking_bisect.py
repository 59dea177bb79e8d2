# /// expect
# run = "check"
# vram = "3GiB"
# kind = 5
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [0.9, 2.0]
# why = "at first 8 clips of 60,000 samples: a map of 8 x 64 x 60,000 x 4 B is 117 MiB; four tanh outputs and two or three maps in work are 0.7 to 0.8 GiB, and a context; later clips have a tenth"
# ///
"""Speaker embedding: long clips first, shorter and shorter ones later."""

from bisect import bisect

import torch
from torch import nn

CUTS = [60, 140, 220]
SAMPLES = [60_000, 20_000, 6_000, 2_000]
layers = [nn.Linear(1, 64)]
for _ in range(4):
    layers += [nn.Tanh(), nn.Linear(64, 64)]
net = nn.Sequential(*layers).cuda()
optimizer = torch.optim.AdamW(net.parameters())
for step in range(280):
    clip = torch.randn(8, SAMPLES[bisect(CUTS, step)], 1, device="cuda")
    voice = net(clip).mean(dim=1)
    loss = torch.pdist(voice).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
