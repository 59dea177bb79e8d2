"""Trains an autoencoder of point clouds with the Chamfer distance."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class CloudNet(nn.Module):
    def __init__(self, points: int, code: int) -> None:
        super().__init__()
        self.points = points
        self.encode = nn.Sequential(nn.Linear(3, 128), nn.ReLU(), nn.Linear(128, code))
        self.decode = nn.Sequential(nn.Linear(code, 1024), nn.ReLU(), nn.Linear(1024, 3 * points))

    def forward(self, cloud: torch.Tensor) -> torch.Tensor:
        code = self.encode(cloud).amax(dim=1)
        return self.decode(code).unflatten(-1, (self.points, 3))


def chamfer(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """The mean squared distance of each point to its nearest neighbour in the other cloud, both ways."""
    difference = left[:, :, None, :] - right[:, None, :, :]
    distance = difference.pow(2).sum(dim=-1)
    return distance.amin(dim=2).mean() + distance.amin(dim=1).mean()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=12)
    parser.add_argument("--points", type=int, default=8192)
    parser.add_argument("--steps", type=int, default=10000)
    options = parser.parse_args()

    torch.manual_seed(7)
    model = CloudNet(options.points, 256).to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4)
    for step in range(1, options.steps + 1):
        cloud = F.normalize(torch.randn(options.batch, options.points, 3, device="cuda"), dim=-1)
        loss = chamfer(model(cloud), cloud)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        print(f"step {step} chamfer {loss.item():.5f}", flush=True)


if __name__ == "__main__":
    main()
