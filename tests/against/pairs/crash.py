# /// expect
# run = "against"
# vram = "4GiB"
# sentence = 'no difference up to the end of B: \d+ requests are equal; B ended after step 1 with ValueError \(crash.py:23\)'
# largest = "none"
# status = 1
# ///
"""B raises an exception in its second step, after the same forward as in A; every step has the same peak."""

import sys

import torch
from torch import nn

model = nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(256, 1024, device="cuda")
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    if step == 1 and sys.argv[1] == "b":
        raise ValueError("a label is out of range")
    optimizer.step()
    del x, loss
