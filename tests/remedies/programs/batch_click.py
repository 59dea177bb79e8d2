"""An option of click's."""

import click
import torch
from torch import nn


@click.command()
@click.option("--bs", default=256, show_default=True, help="rows in a batch")
@click.option("--steps", default=3)
def main(bs, steps):
    model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 16)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        features = torch.randn(bs, 1024, device="cuda")
        optimizer.zero_grad()
        model(features).square().mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
