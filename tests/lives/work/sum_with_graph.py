# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["evaluation"]
# step = 1051
# line = 25
# form = "for range, i % n == n - 1"
# need_gib = [8.0, 9.2]
# why = "the evaluation sums losses with their graphs: each of 64 batches keeps 8,192 x 4,096 x 4 B = 128 MiB after its tanh: 8 GiB, with 3.55 free"
# ///
"""Evaluates by a sum of losses that nobody detached: the graphs of all validation batches live until it is printed."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter, self.leave = nn.Linear(20, 4096), nn.Linear(4096, 1)

    def forward(self, x):
        return self.leave(self.enter(x).tanh()).squeeze(1)


net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for i in range(1900):
    x = torch.randn(32, 20, device="cuda")
    loss = (net(x) - x.sum(1)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if i % 1050 == 1049:
        net.eval()
        total = 0
        for _ in range(64):
            x = torch.randn(8192, 20, device="cuda")
            total += (net(x) - x.sum(1)).square().mean()
        print(i, total.item() / 64)
        net.train()
