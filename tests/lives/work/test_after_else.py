# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["end"]
# form = "while ... else with the test"
# need_gib = [0.7, 1.8]
# why = "the test has 64 batches of 8,192 x 4,096 x 4 B = 128 MiB, of which a running histogram is kept, and a layer and its ELU, two of 128 MiB, are alive"
# ///
"""The else of the training loop runs the test, batch by batch; a running histogram is all that stays."""

import torch
from torch import nn

net = nn.Sequential(nn.Linear(10, 4096), nn.ELU()).cuda()
optimizer = torch.optim.Adamax(net.parameters())
budget = 1900
while budget:
    out = net(torch.randn(8, 10, device="cuda"))
    loss = (out.mean(1) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    budget -= 1
else:
    histogram = torch.zeros(4096, device="cuda")
    with torch.no_grad():
        for _ in range(64):
            histogram += net(torch.randn(8192, 10, device="cuda")).mean(0)
    print("largest", histogram.max().item())
