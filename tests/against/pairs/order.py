# /// expect
# run = "against"
# vram = "4GiB"
# sentence = 'the runs part at step 1, order.py:\d+: the same requests come in another order; peak \S+ MiB in both'
# largest = "none"
# ///
"""Two tensors of different sizes, in this order or the other. Both are alive at once, so the peak is the same."""

import sys

import torch
from torch import nn


def small():
    return torch.empty(8 << 20, dtype=torch.uint8, device="cuda")


def large():
    return torch.empty(16 << 20, dtype=torch.uint8, device="cuda")


makers = [large, small] if sys.argv[1] == "b" else [small, large]
model = nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = model(torch.randn(256, 1024, device="cuda")).square().mean()
    optimizer.zero_grad()
    made = [make() for make in makers]
    loss.backward()
    optimizer.step()
    del made
