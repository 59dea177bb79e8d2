# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "pairwise"
# first_finding = ["pairwise-by-broadcasting"]
# lines = [24]
# why = "the prediction is [36000, 1] and the target [36000]: their difference is 36,000^2 x 4 B = 4.83 GiB, with 3.52 free; with squeeze(1) it is 140 KiB"
# ///
"""House prices by a small net, full batch; the error is printed each epoch."""

import torch
from torch import nn

torch.manual_seed(1)
HOUSES = 36_000
features = torch.randn(HOUSES, 30, device="cuda")
price = features @ torch.randn(30, device="cuda")
net = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 1)).cuda()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(50):
    predicted = net(features)
    error = (predicted - price).square().mean()
    optimizer.zero_grad()
    error.backward()
    optimizer.step()
    print(epoch, error.item())
