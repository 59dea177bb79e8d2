# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["end"]
# step = 2001
# line = 28
# form = "for range at module level, print at the end"
# need_gib = [7.9, 8.5]
# why = "46,341 points have 46,341 x 46,341 x 4 B = 8 GiB of distances, with 5.55 free; the steps need some MiB"
# ///
"""Learns an embedding of points and, when that is done, looks for the two that are closest."""

import torch
from torch import nn

points = nn.Embedding(46_341, 16, device="cuda")
optimizer = torch.optim.Adagrad(points.parameters(), lr=0.1)
for n in range(2000):
    near = points(torch.randint(46_341, (64, 2), device="cuda"))
    loss = (near[:, 0] - near[:, 1]).square().sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

with torch.no_grad():
    gram = points.weight @ points.weight.T
    print("closest", gram.amax().item())
