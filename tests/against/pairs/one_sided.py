# /// expect
# run = "against"
# vram = "4GiB"
# sentence = "the runs part at step 2, one_sided.py:21: 48.00 MiB only in B; the peak is 48.00 MiB higher in B"
# largest = "one_sided.py:21 0 B 48.00 MiB"
# ///
"""B also makes a tensor of 48 MiB at the start of its second step, whose forward has the peak of A: the gradients are still alive."""

import sys

import torch
from torch import nn

is_more = sys.argv[1] == "b"

model = nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    weights = None
    if is_more and step == 1:
        weights = torch.empty(48 << 20, dtype=torch.uint8, device="cuda")
    loss = model(torch.randn(256, 1024, device="cuda")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    del weights
