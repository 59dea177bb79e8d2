# /// expect
# run = "check"
# vram = "6GiB"
# kind = 1
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [43, 44, 37]
# need_gib = [8.4, 14]
# why = "cells are numbered up to 256^3 - 1: a table of 16,777,216 x 32 x 4 B = 2 GiB, its gradient 2 GiB, Adam's moments 4 GiB"
# ///
"""A radiance field with a dense feature grid; the grid is as large as the highest cell that the rays of the data set touch."""

import torch
from torch import nn

CELLS, RAYS, WIDTH, BATCH, STEPS = 256, 500_000, 32, 65536, 1000


def touched_cells():
    generator = torch.Generator().manual_seed(6)
    place = torch.randint(CELLS, (RAYS, 3), generator=generator)
    place[0] = CELLS - 1
    return (place[:, 0] * CELLS + place[:, 1]) * CELLS + place[:, 2]


class Field(nn.Module):
    def __init__(self, cells):
        super().__init__()
        self.grid = nn.Embedding(int(cells.amax()) + 1, WIDTH, device=cells.device)
        self.colour = nn.Sequential(nn.Linear(WIDTH, 64), nn.ReLU(), nn.Linear(64, 3)).to(cells.device)

    def forward(self, cells):
        return self.colour(self.grid(cells)).sigmoid()


cells = touched_cells().cuda()
field = Field(cells)
optimizer = torch.optim.Adam(field.parameters(), lr=1e-2, eps=1e-15)
for step in range(STEPS):
    chosen = cells[torch.randint(RAYS, (BATCH,), device="cuda")]
    loss = (field(chosen) - torch.rand(BATCH, 3, device="cuda")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
