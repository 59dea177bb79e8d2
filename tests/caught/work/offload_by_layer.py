# /// expect
# run = "check"
# vram = "4GiB"
# verdict = ["fits", "fits so far"]
# search = true
# line = 20
# requested_bytes = 1073741824
# caught_line = 21
# then = "one layer of 1 GiB at a time is on the device"
# why = "six layers of 1 GiB do not fit; the layers go back to the host and are moved one by one, as offloading does"
# ///
"""Puts all layers on the device, or one after the other if they do not fit."""

import torch
from torch import nn

WIDTH = 16384
layers = [nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(6)]
try:
    moved = [layer.cuda() for layer in layers]
except torch.cuda.OutOfMemoryError:
    moved = None
    for layer in layers:
        layer.cpu()
    torch.cuda.empty_cache()

with torch.no_grad():
    x = torch.ones(8, WIDTH, device="cuda")
    for layer in layers:
        x = layer.cuda()(x)
        layer.cpu()
print(x.shape)
