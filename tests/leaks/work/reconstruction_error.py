# /// expect
# run = "check"
# vram = "5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = [23]
# keeps_mib = 80
# allocates = [25, 24]
# full_at = [51, 55]
# why = "the running sum keeps the graph of each of 150 batches: x 16384 x 384 x 4 B = 24 MiB, the hidden layer 16384 x 512 x 4 B = 32 MiB, the difference 24 MiB"
# ///
"""Mean reconstruction error of an autoencoder over a test set, as a running sum of losses."""

import torch
from torch import nn

ROWS, WIDTH, CODE, BATCHES = 16_384, 384, 512, 150

autoencoder = nn.Sequential(nn.Linear(WIDTH, CODE), nn.ReLU(), nn.Linear(CODE, WIDTH)).to("cuda")
total = torch.zeros((), device="cuda")
seen = 0
while seen < BATCHES:
    x = torch.randn(ROWS, WIDTH, device="cuda")
    error = (autoencoder(x) - x).square().mean()
    total = total + error
    seen += 1
print("error", total.item() / seen)
