"""The end of each program here: a step on the GPU, so that there is something to check."""

import torch


def make_step() -> None:
    """One step of a layer."""
    layer = torch.nn.Linear(8, 8, device="cuda")
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    layer(torch.ones(2, 8, device="cuda")).sum().backward()
    optimizer.step()
