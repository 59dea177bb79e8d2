# /// expect
# run = "check"
# vram = "8GiB"
# kind = 1
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [41]
# need_gib = [14, 26]
# open = "needs 30.63 GiB, expected 14..26"
# why = "points reach to (511, 511, 63): the dense grid is 32 x 512 x 512 x 64 x 4 B = 2 GiB, the convolution's output with 96 channels 6 GiB"
# ///
"""Completes scenes: scatters a point cloud into a dense grid of the size that the points span."""

import numpy as np
import torch
from torch import nn

POINTS, CHANNELS, STEPS = 1_000_000, 32, 50
EXTENT = (512, 512, 64)


def scan(rng):
    coordinates = np.stack([rng.integers(0, n, POINTS) for n in EXTENT], axis=1)
    coordinates[0] = [n - 1 for n in EXTENT]
    return torch.from_numpy(coordinates), torch.from_numpy(rng.random((POINTS, 4), dtype=np.float32))


class Completion(nn.Module):
    def __init__(self):
        super().__init__()
        self.points = nn.Linear(4, CHANNELS)
        self.dense = nn.Conv3d(CHANNELS, 3 * CHANNELS, 1)
        self.out = nn.Conv3d(3 * CHANNELS, 1, 1)

    def forward(self, coordinates, features):
        size = coordinates.max(dim=0).values + 1
        x, y, z = size.tolist()
        flat = (coordinates[:, 0] * y + coordinates[:, 1]) * z + coordinates[:, 2]
        grid = torch.zeros(CHANNELS, x * y * z, device=features.device)
        grid = grid.index_add(1, flat, self.points(features).t())
        return self.out(self.dense(grid.view(1, CHANNELS, x, y, z)).relu())


rng = np.random.default_rng(0)
model = Completion().to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(STEPS):
    coordinates, features = (t.to("cuda") for t in scan(rng))
    occupied = model(coordinates, features)
    loss = occupied.mean().square()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
