# /// expect
# run = "against"
# vram = "4GiB"
# sentence = "the runs part at step 1, doubled.py:22: 64.00 MiB in A, 128.00 MiB in B; the peak is 64.00 MiB higher in B"
# largest = "doubled.py:22 64.00 MiB 128.00 MiB"
# ///
"""One line asks for 64 MiB, or for 128 MiB. It is alive while each step reaches its peak, so the peaks differ by as much."""

import sys

import torch
from torch import nn

MIB = 128 if sys.argv[1] == "b" else 64

model = nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    x = torch.randn(256, 1024, device="cuda")
    loss = model(x).square().mean()
    optimizer.zero_grad()
    scratch = torch.empty(MIB << 20, dtype=torch.uint8, device="cuda")
    loss.backward()
    optimizer.step()
    del scratch
