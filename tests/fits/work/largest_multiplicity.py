# /// expect
# run = "check"
# vram = "4GiB"
# kind = 1
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# need_gib = [4.5, 10.0]
# why = "24 million draws over 2,000 keys: 12,000 of each, sigma 110, the most frequent has 12,200 to 12,700; a table of 2,000 x 12,000 x 50 x 4 B = 4.47 GiB at least, with 3.52 free"
# ///
"""Pads hash buckets to the fullest of them."""

import torch
from torch import nn

keys = torch.randint(0, 2_000, (24_000_000,))
buckets, sizes = keys.unique(return_counts=True)
fullest = sizes.max().item()
print(len(buckets), "buckets, the fullest has", fullest)
table = torch.zeros(len(buckets), fullest, 50, device="cuda")
weight = nn.Parameter(torch.ones(50, device="cuda"))
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in range(4):
    loss = (table[:16] * weight).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
