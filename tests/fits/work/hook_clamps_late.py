# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [0.4, 1.0]
# why = "from call 200 on the hook returns a clamped copy of a gradient of 256 x 256 x 4 B: 256 KiB more"
# ///
"""Learns a rotation; gradients are clamped once the warm-up is over."""

import itertools

import torch
from torch import nn

rotate = nn.Linear(256, 256, bias=False).cuda()
calls = itertools.count(1)


def clamp(grad):
    return grad.clamp(-0.1, 0.1) if next(calls) >= 200 else None


rotate.weight.register_hook(clamp)
optimizer = torch.optim.SGD(rotate.parameters(), lr=0.5)
target = torch.linalg.qr(torch.randn(256, 256)).Q.cuda()
for step in range(300):
    x = torch.randn(64, 256, device="cuda")
    optimizer.zero_grad()
    (rotate(x) - x @ target).square().mean().backward()
    optimizer.step()
