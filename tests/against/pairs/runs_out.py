# /// expect
# run = "against"
# vram = "4GiB"
# sentence = "the runs part at step 2, runs_out.py:22: 64.00 MiB in A, 8.00 GiB in B, where memory ran out"
# status = 1
# ///
"""From the second step on B asks for 8 GiB, which the device of 4 GiB cannot serve; A asks for 64 MiB."""

import sys

import torch
from torch import nn

LATER = 8 << 30 if sys.argv[1] == "b" else 64 << 20

model = nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(256, 1024, device="cuda")
    loss = model(x).square().mean()
    optimizer.zero_grad()
    scratch = torch.empty(64 << 20 if step == 0 else LATER, dtype=torch.uint8, device="cuda")
    loss.backward()
    optimizer.step()
    del scratch
