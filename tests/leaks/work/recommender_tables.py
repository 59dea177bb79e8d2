# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = false
# why = "52 tables of 655,360 x 64 x 4 B = 160 MiB are 8.1 GiB of parameters"
# ///
"""A recommender with one embedding table per field, evaluated on logged impressions."""

import torch
from torch import nn

FIELDS, ROWS, WIDTH, IMPRESSIONS, BATCHES = 52, 655_360, 64, 4096, 100


class Recommender(nn.Module):
    def __init__(self, fields):
        super().__init__()
        self.tables = nn.ModuleDict()
        for field in fields:
            self.tables[field] = nn.Embedding(ROWS, WIDTH, device="cuda")

    def forward(self, rows):
        return sum(table(rows).mean(1) for table in self.tables.values())


model = Recommender([f"field_{number}" for number in range(FIELDS)])
clicks = 0.0
with torch.no_grad():
    for _ in range(BATCHES):
        clicks += model(torch.randint(ROWS, (IMPRESSIONS,), device="cuda")).sigmoid().mean().item()
print("clicks", clicks / BATCHES)
