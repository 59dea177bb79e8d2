# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["end"]
# line = 21
# open = "stage next-epoch, expected end"
# form = "recursion over phases, for range in each"
# need_gib = [6.4, 7.0]
# why = "a step has a table of 131,072 x 2,048 x 4 B = 1 GiB and its gradient: 2; the ensemble at the end holds six tables, the fourth of 3.55 GiB"
# ///
"""Trains a member in three phases that call each other; at the end six members, from six seeds, vote together."""

import torch
from torch import nn


def build(seed):
    torch.manual_seed(seed)
    return nn.Embedding(131_072, 2048, device="cuda")


def fit(model, phases):
    if not phases:
        return
    (rate, steps), *rest = phases
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    for _ in range(steps):
        loss = model(torch.randint(131_072, (256,), device="cuda")).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    optimizer.zero_grad()
    fit(model, rest)


member = build(0)
fit(member, [(0.1, 500), (0.01, 400), (0.001, 300)])
del member
ensemble = [build(seed) for seed in range(6)]
with torch.no_grad():
    ids = torch.arange(100, device="cuda")
    print(torch.stack([member(ids) for member in ensemble]).mean(0).sum())
