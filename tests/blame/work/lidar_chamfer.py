# /// expect
# run = "check"
# vram = "12GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "pairwise"
# first_finding = ["pairwise-by-broadcasting"]
# lines = [31, 32]
# why = "4 clouds of 12288 x 12288 pairs x 3 coordinates x 4 B = 6912 MiB for the differences, and as much again for their squares: 13824 + 410 of 12288 MiB"
# ///
"""Completes lidar point clouds; the Chamfer distance compares every predicted with every measured point."""

import torch
from torch import nn

CLOUDS, POINTS = 4, 12_288


class Completion(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 256))
        self.decode = nn.Sequential(nn.Linear(256 + 3, 128), nn.ReLU(), nn.Linear(128, 3))

    def forward(self, cloud):
        code = self.encode(cloud).amax(dim=1, keepdim=True).expand(-1, cloud.shape[1], -1)
        return cloud + self.decode(torch.cat([cloud, code], dim=-1))


def chamfer(predicted, measured):
    differences = predicted[:, :, None, :] - measured[:, None, :, :]
    squared = (differences**2).sum(dim=-1)
    return squared.amin(dim=2).mean() + squared.amin(dim=1).mean()


model = Completion().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    measured = torch.randn(CLOUDS, POINTS, 3, device="cuda")
    partial = measured + 0.05 * torch.randn_like(measured)
    loss = chamfer(model(partial), measured)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
