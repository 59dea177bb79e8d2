# /// expect
# run = "check"
# vram = "3GiB"
# kind = 1
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [0.9, 2.3]
# why = "ten million exponential draws of scale 1: above 5 are e^-5 = 0.674 %, 67,400 to a percent; 67,400 x 4096 x 4 B = 1.03 GiB and a context; half of the draws would be 76 GiB"
# ///
"""Waiting times from a file; each long wait gets a row of context."""

import numpy as np
import torch
from torch import nn

np.save("waits.npy", np.random.default_rng(3).exponential(1.0, 10_000_000).astype(np.float32))
waits = np.load("waits.npy", mmap_mode="r")
late = np.flatnonzero(waits > 5.0)
print("long waits", late.size)
context = torch.zeros(late.size, 4096, device="cuda")
score = nn.Linear(4096, 1).cuda()
optimizer = torch.optim.SGD(score.parameters(), lr=0.1)
for step in range(5):
    rows = torch.from_numpy(np.random.default_rng(step).integers(0, late.size, 512)).cuda()
    optimizer.zero_grad()
    score(context[rows]).sigmoid().mean().backward()
    optimizer.step()
