# /// expect
# run = "against"
# vram = "4GiB"
# sentence = "the requests are equal, and B keeps more: kept.py:23 has 64.00 MiB more at the peak; the peak is 64.00 MiB higher in B"
# largest = "kept.py:23 32.00 MiB 96.00 MiB"
# says = ["kept from step 1 on"]
# ///
"""Both runs ask for the same memory. B keeps the tensor of each of three steps, so two of the earlier ones are alive at the peak."""

import sys

import torch
from torch import nn

kept = []
is_keeper = sys.argv[1] == "b"

model = nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = model(torch.randn(256, 1024, device="cuda")).square().mean()
    optimizer.zero_grad()
    scores = torch.empty(32 << 20, dtype=torch.uint8, device="cuda")
    loss.backward()
    optimizer.step()
    if is_keeper:
        kept.append(scores)
    del scores
