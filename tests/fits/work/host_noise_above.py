# /// expect
# run = "check"
# vram = "3GiB"
# kind = 1
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# need_gib = [4.1, 5.3]
# why = "a tenth of 40 million draws is above 0.9, certain to a thousandth: 4.0 million points of 256 x 4 B = 3.81 GiB in one request"
# ///
"""Keeps the tenth of the simulated pixels that shine, and makes a feature vector of each."""

import torch
from torch import nn

pixels = torch.rand(40_000_000)
bright = int((pixels > 0.9).sum())
print("bright pixels", bright)
table = torch.zeros(bright, 256, device="cuda")
head = nn.Linear(256, 1).cuda()
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for step in range(5):
    rows = torch.randint(bright, (1024,), device="cuda")
    optimizer.zero_grad()
    head(table[rows]).square().mean().backward()
    optimizer.step()
