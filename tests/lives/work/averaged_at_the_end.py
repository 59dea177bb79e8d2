# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["end"]
# open = "fits so far, expected fits"
# form = "for over range within with, i == warmup"
# need_gib = [1.9, 2.6]
# why = "weights of 0.5 GiB, their gradient and their average: 1.5 GiB; the last pass for the statistics of the normalization has batches of 64 rows"
# ///
"""Stochastic weight averaging from the 600th step on; the statistics of the batch norm are taken again at the end."""

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, update_bn

warmup = 600
model = nn.Sequential(nn.Linear(8192, 16_384, bias=False), nn.BatchNorm1d(16_384), nn.ReLU(), nn.Linear(16_384, 1)).cuda()
average = None
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
with torch.enable_grad():
    for i in range(1100):
        x = torch.randn(64, 8192, device="cuda")
        loss = (model(x).squeeze(1) - x.mean(1)).square().mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if i == warmup:
            average = AveragedModel(model)
        elif i > warmup and i % 50 == 0:
            average.update_parameters(model)
optimizer.zero_grad()
update_bn([torch.randn(64, 8192) for _ in range(10)], average, device="cuda")
