# /// expect
# run = "check"
# vram = "4GiB"
# kind = 9
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [2.2, 3.7]
# says = ["96"]
# why = "a picture takes 32 x 256 x 256 x 4 B = 8 MiB for a map; at the ReLU's backward its output and two gradients are alive: 384 pictures need 9 GiB, 192 4.5 + 0.48, 96 2.25 + 0.48 of 4; the cache beside it is not in the sum, and at most a third of it"
# ///
"""Colours pictures; halves the batch until a step gets through."""

import torch
from torch import nn

net = nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 2, 1)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)


def attempt(pictures):
    grey = torch.rand(pictures, 1, 256, 256, device="cuda")
    optimizer.zero_grad()
    net(grey).abs().mean().backward()
    optimizer.step()


batch_size = 384
while True:
    failed = False
    try:
        attempt(batch_size)
    except torch.cuda.OutOfMemoryError:
        failed = True
    if not failed:
        break
    optimizer.zero_grad()
    torch.cuda.empty_cache()
    batch_size = batch_size // 2
for _ in range(60):
    attempt(batch_size)
print("batch size", batch_size)
