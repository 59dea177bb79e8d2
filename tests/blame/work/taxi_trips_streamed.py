# /// expect
# run = "check"
# vram = "2GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "data-on-device"
# no_finding = ["dataset-on-gpu"]
# why = "a month of 275 MiB stays in host memory and a batch of 3 MiB is copied at a time; the activations are about 2 x 8 MiB"
# ///
"""Predicts taxi fares; a month of trips is in host memory, and batches are copied as they are used."""

import torch
from torch import nn

TRIPS, COLUMNS, BATCH = 1_500_000, 24, 16_384


def read_month(month):
    return torch.zeros(TRIPS, COLUMNS, dtype=torch.float64)


def batches(months, per_month):
    for month in range(months):
        trips = read_month(month)
        for start in range(0, per_month * BATCH, BATCH):
            yield trips[start : start + BATCH].cuda().float()


model = nn.Sequential(nn.Linear(COLUMNS - 1, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step, batch in enumerate(batches(months=3, per_month=4)):
    optimizer.zero_grad()
    loss = nn.functional.smooth_l1_loss(model(batch[:, :-1]).squeeze(-1), batch[:, -1])
    loss.backward()
    optimizer.step()
    print(step, loss.item())
