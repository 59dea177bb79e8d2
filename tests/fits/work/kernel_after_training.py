# /// expect
# run = "check"
# vram = "3GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "after 200,000 small steps the part behind the yield makes the kernel matrix of 32,000 points: 32,000^2 x 4 B = 3.81 GiB in one request, with 2.52 free"
# ///
"""Learns features for yield prediction; the training context measures their kernel when it closes."""

import contextlib

import torch
from torch import nn

features = nn.Sequential(nn.Linear(24, 96), nn.SiLU(), nn.Linear(96, 32)).cuda()
readout = nn.Linear(32, 1).cuda()
params = [p for module in (features, readout) for p in module.parameters()]


@contextlib.contextmanager
def measured(name, points):
    print("begin", name)
    yield torch.optim.Adam(params, lr=1e-3)
    with torch.no_grad():
        phi = features(torch.randn(points, 24, device="cuda"))
        kernel = phi @ phi.t()
        print(name, "trace", kernel.diagonal().sum().item())


with measured("wheat", points=32_000) as optimizer:
    for _ in range(200_000):
        field = torch.randn(64, 24, device="cuda")
        error = readout(features(field)).squeeze(1) - field.mean(dim=1)
        optimizer.zero_grad()
        error.abs().mean().backward()
        optimizer.step()
