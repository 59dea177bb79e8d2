# /// expect
# run = "check"
# vram = "2GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "cycle"
# first_finding = ["reference-cycle", "retained-graph"]
# lines = [20, 19]
# why = "backward(create_graph=True) lets `volume.grad` refer to the graph that refers to `volume`: 64 x 49,152 x 4 B = 12 MiB twice stay of each step, 24 MiB; 1.52 GiB are full at about step 60 of 500; with torch.autograd.grad nothing stays"
# ///
"""Smoothness penalty of a critic: the norm of its gradient with respect to the volume."""

import torch
from torch import nn

critic = nn.Sequential(nn.Linear(49_152, 64), nn.Softplus(), nn.Linear(64, 1)).cuda()
optimizer = torch.optim.SGD(critic.parameters(), lr=1e-4)
for step in range(500):
    volume = torch.rand(64, 49_152, device="cuda", requires_grad=True)
    critic(volume).sum().backward(create_graph=True)
    slope = volume.grad.flatten(1).norm(dim=1)
    penalty = (slope - 1).square().mean()
    penalty.backward()
    optimizer.step()
    optimizer.zero_grad()
