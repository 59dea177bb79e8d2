# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "data-on-device"
# first_finding = ["dataset-on-gpu"]
# open = "first finding growing-collection, expected dataset-on-gpu"
# lines = [35]
# why = "a month of 1,500,000 x 24 x 8 B = 275 MiB (float64, as read); 12 months are 3296 + 410 of 3072 MiB, the tenth does not fit; a batch is 16384 x 24 x 8 B = 3 MiB"
# ///
"""Predicts taxi fares; the year's trips are copied to the GPU so that batches need no transfer."""

import torch
from torch import nn

TRIPS, COLUMNS, BATCH = 1_500_000, 24, 16_384


def read_month(month):
    """Stands for a parquet file: columns in double precision, the fare in the last one."""
    return torch.zeros(TRIPS, COLUMNS, dtype=torch.float64)


class FareModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(COLUMNS - 1, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))

    def forward(self, trip):
        return self.net(trip).squeeze(-1)


def main():
    months = [read_month(month).cuda() for month in range(1, 13)]
    model = FareModel().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for number, trips in enumerate(months, start=1):
        for start in range(0, 10 * BATCH, BATCH):
            batch = trips[start : start + BATCH].float()
            optimizer.zero_grad()
            loss = nn.functional.smooth_l1_loss(model(batch[:, :-1]), batch[:, -1])
            loss.backward()
            optimizer.step()
        print("month", number, loss.item())


main()
