# /// expect
# run = "check"
# vram = "8GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "pairwise"
# first_finding = ["pairwise-by-broadcasting"]
# lines = [33]
# why = "predictions are 40000 x 1 and prices 40000, so their difference is 40000 x 40000 x 4 B = 6104 MiB and its square as much again, of 7782; with equal shapes both are 0.15 MiB, and the net's saved tensors are 40000 x 256 x 4 B = 39 MiB each"
# ///
"""House prices by gradient descent on the whole table."""

import torch
from torch import nn

ROWS, COLUMNS = 40_000, 79

torch.manual_seed(0)
table = torch.randn(ROWS, COLUMNS).cuda()
prices = torch.rand(ROWS).cuda()

net = nn.Sequential(
    nn.Linear(COLUMNS, 256),
    nn.ReLU(),
    nn.Linear(256, 256),
    nn.ReLU(),
    nn.Linear(256, 1),
).cuda()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)


def root_mean_square(prediction, target):
    return (prediction - target).square().mean().sqrt()


for epoch in range(20):
    optimizer.zero_grad()
    loss = root_mean_square(net(table), prices)
    loss.backward()
    optimizer.step()
    if epoch % 5 == 0:
        print(epoch, loss.item())
