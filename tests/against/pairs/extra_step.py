# /// expect
# run = "against"
# vram = "4GiB"
# sentence = 'no difference: \d+ requests of 3 steps are equal; peak \S+ MiB in both'
# says = ["B goes on for 1 step"]
# ///
"""Three steps, or four of the same kind."""

import sys

import torch
from torch import nn

model = nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4 if sys.argv[1] == "b" else 3):
    x = torch.randn(256, 1024, device="cuda")
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    del x, loss
