# /// expect
# run = "check"
# vram = "4GiB"
# kind = 1
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [1.4, 2.8]
# why = "30 million edges over 1,000 nodes: the largest degree is 30,000 + at most 5 sigma of 173 = 30,900; a table of 30,500 x 5,000 x 4 B is 0.57 GiB, with the product of the same size 1.14, and a context; were all edges of one node (or none known) it would be 559 GiB or nothing"
# ///
"""Pads neighbour lists to the largest degree of a random graph."""

import numpy as np
import torch

rng = np.random.default_rng(7)
source = rng.integers(0, 1_000, 30_000_000, dtype=np.int32)
degree = int(np.bincount(source, minlength=1_000).max())
print("largest degree", degree)
padded = torch.zeros(degree, 5_000, device="cuda")
gate = torch.nn.Parameter(torch.ones(5_000, device="cuda"))
optimizer = torch.optim.SGD([gate], lr=0.1)
for step in range(4):
    loss = (padded * gate).sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
