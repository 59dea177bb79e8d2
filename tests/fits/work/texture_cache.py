# /// expect
# run = "check"
# vram = "2GiB"
# kind = 4
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [1.3, 1.85]
# why = "there are 70 textures of 4 x 1024 x 960 x 4 B = 15 MiB: 1,050 MiB once all are cached; the other 1,100 steps only look them up"
# ///
"""Learns to inpaint 70 textures; each is generated on first use and cached on the device."""

import torch
import torch.nn.functional as F
from torch import nn

TEXTURES, STEPS = 70, 1_200
cache = {}


def texture(number):
    if number not in cache:
        generator = torch.Generator(device="cuda").manual_seed(number)
        cache[number] = torch.rand(4, 1024, 960, device="cuda", generator=generator)
    return cache[number]


paint = nn.Conv2d(4, 4, 5, padding=2).cuda()
optimizer = torch.optim.Adam(paint.parameters(), lr=1e-2)
order = torch.randint(TEXTURES, (STEPS,)).tolist()
for number in order:
    crop = texture(number)[:, :64, :64].unsqueeze(0)
    holes = F.dropout(crop, 0.3)
    optimizer.zero_grad()
    F.mse_loss(paint(holes), crop).backward()
    optimizer.step()
