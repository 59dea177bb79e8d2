# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# stage = ["save"]
# step = 851
# line = 39
# form = "object with __iter__ and __next__, due property"
# need_gib = [5.4, 6.0]
# why = "weights and average of 1 GiB each; for the save the weights are put aside as a clone, 1 GiB, and the average is cast to doubles, 2 GiB: 5 GiB with 3.55 free; a step has 2 and a sparse gradient"
# ///
"""Averages weights; the save puts the weights aside and normalizes the average in double precision."""

import torch
from torch import nn


class Clock:
    def __init__(self, end):
        self.now, self.end = 0, end

    def __iter__(self):
        return self

    def __next__(self):
        if self.now >= self.end:
            raise StopIteration
        self.now += 1
        return self.now

    @property
    def due(self):
        return self.now % 850 == 0


def save_average(model, average):
    aside = model.weight.detach().clone()
    exact = average.double()
    model.weight.data.copy_(exact)
    print("saved", model.weight.detach()[0, :2].cpu())
    model.weight.data.copy_(aside)


model = nn.Embedding(131_072, 2048, sparse=True, device="cuda")
average = model.weight.detach().clone()
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
clock = Clock(1400)
for _ in clock:
    loss = model(torch.randint(131_072, (10,), device="cuda")).square().sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    average.mul_(0.999).add_(model.weight.detach(), alpha=0.001)
    if clock.due:
        save_average(model, average)
