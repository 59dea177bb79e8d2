# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "fits"
# verdict = ["fits"]
# need_gib = [0.4, 1.0]
# why = "textwrap and statistics are imported at step 200 and work on floats of the host"
# ///
"""Predicts delivery times; the closing remarks are formatted with modules that are imported when needed."""

import torch
from torch import nn

net = nn.Sequential(nn.Linear(14, 80), nn.Softplus(), nn.Linear(80, 1)).cuda()
optimizer = torch.optim.Adamax(net.parameters(), lr=2e-3)
losses = []
for step in range(260):
    parcel = torch.rand(200, 14, device="cuda")
    loss = nn.functional.smooth_l1_loss(net(parcel), parcel.amax(dim=1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    if step == 200:
        import statistics
        import textwrap

        print(textwrap.fill(f"median {statistics.median(losses):.3f} of {len(losses)} losses", 40))
