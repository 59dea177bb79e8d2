# /// expect
# run = "check"
# vram = "5GiB"
# kind = 10
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [34, 47]
# need_gib = [8.4, 18]
# open = "needs 20.47 GiB, expected 8.4..18"
# why = "after the resampling on the host, 65,536 particles are compared with 16,384 landmarks: 65,536 x 16,384 x 4 B = 4 GiB, and their softmax 4 GiB"
# ///
"""A differentiable particle filter: particles are resampled on the host by their weights, which must sum to one."""

import numpy as np
import torch
from torch import nn

PARTICLES, LANDMARKS, STATE, STEPS = 65536, 16_384, 8, 40


def resample(weights):
    share = weights.double().cpu().numpy()
    share = share / share.sum()
    assert np.isfinite(share).all(), "the weights sum to zero"
    return torch.from_numpy(np.random.default_rng(0).choice(len(share), len(share), p=share)).cuda()


class Likelihood(nn.Module):
    def __init__(self):
        super().__init__()
        self.landmarks = nn.Parameter(torch.randn(LANDMARKS, STATE))

    def forward(self, particles):
        near = (particles @ self.landmarks.t()).softmax(1)
        return (near @ self.landmarks - particles).square().sum(1)


model = Likelihood().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
particles = torch.randn(PARTICLES, STATE, device="cuda")
weights = torch.rand(PARTICLES, device="cuda")
for step in range(STEPS):
    particles = particles[resample(weights)] + 0.1 * torch.randn(PARTICLES, STATE, device="cuda")
    distance = model(particles)
    weights = torch.exp(-distance.detach()) + 1e-12
    optimizer.zero_grad()
    distance.mean().backward()
    optimizer.step()
