# /// expect
# run = "check"
# vram = "2GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "graph-kept"
# first_finding = ["retained-graph", "growing-collection", "saved-intermediates"]
# lines = [33, 32, 23]
# why = "a micro-batch saves a tanh of 8,192 x 1024 x 4 B = 32 MiB and its input of 2 MiB until the one backward: 80 are 2.7 GiB, with 1.52 free; with a backward each they need 0.1"
# ///
"""Accumulates eighty micro-batches for the update of a price model."""

import torch
from torch import nn


class Price(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter, self.leave = nn.Linear(64, 1024), nn.Linear(1024, 1)

    def forward(self, x):
        return self.leave(torch.tanh(self.enter(x)))


price = Price().cuda()
optimizer = torch.optim.SGD(price.parameters(), lr=0.01)
for update in range(5):
    total = 0.0
    for _ in range(80):
        offer = torch.randn(8_192, 64, device="cuda")
        error = (price(offer) - offer[:, :1]).square().mean()
        total = total + error / 80
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
    print(update, total.item())
