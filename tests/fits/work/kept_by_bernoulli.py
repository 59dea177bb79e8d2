# /// expect
# run = "check"
# vram = "3GiB"
# kind = 1
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# need_gib = [3.9, 10.0]
# why = "30 % of 50 million entries are one: 15.0 million, certain to a thousandth; a feature of 64 x 4 B for each is 3.58 GiB, with 2.52 free"
# ///
"""Keeps a random 30 % of the cells of a grid, as masked pretraining does."""

import torch
from torch import nn

mask = torch.empty(50_000_000).bernoulli_(0.3)
cells = int(mask.sum().item())
print("visible cells", cells)
visible = torch.ones(cells, 64, device="cuda")
project = nn.Linear(64, 8).cuda()
optimizer = torch.optim.SGD(project.parameters(), lr=0.01)
for step in range(5):
    some = visible[torch.randint(cells, (4096,), device="cuda")]
    loss = project(some).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
