# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["evaluation"]
# form = "closures, for ... in takewhile"
# need_gib = [0.6, 1.6]
# why = "the evaluation has a graph, but each batch's sum is a number: one batch of 128 MiB for the layer and 128 MiB for its softplus, not 64"
# ///
"""Validation without no_grad that keeps numbers alone, in a closure that remembers the best one."""

from itertools import count, takewhile

import torch
from torch import nn


def make_evaluation(net, batches):
    best = [float("inf")]

    def evaluate():
        total = 0.0
        for _ in range(batches):
            sample = torch.randn(8192, 12, device="cuda")
            total += net(sample).square().mean().item()
        best[0] = min(best[0], total)
        return total / batches

    return evaluate


net = nn.Sequential(nn.Linear(12, 4096), nn.Softplus(), nn.Linear(4096, 2)).cuda()
optimizer = torch.optim.ASGD(net.parameters(), lr=0.01)
evaluate = make_evaluation(net, 64)
for tick in takewhile(lambda n: n < 1800, count()):
    loss = net(torch.randn(16, 12, device="cuda")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if tick > 0 and tick % 800 == 0:
        print(tick, evaluate())
