# /// expect
# run = "check"
# vram = "8GiB"
# kind = 4
# truth = "does not fit"
# verdict = ["does not fit"]
# says = ["full at"]
# full_at = [12, 17]
# why = "each rollout keeps 256 x 128 frames of 4 x 32 x 32 x 4 B = 0.5 GiB on the GPU; 7.5 GiB are full after 14 or 15 of 1,000"
# ///
"""DQN-like training: every rollout is appended to a list on the GPU that nothing ever shortens."""

import random

import torch
from torch import nn

ENVIRONMENTS, LENGTH, SIDE, ACTIONS, ITERATIONS, SAMPLE = 256, 128, 32, 6, 1000, 512


class QNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(4, 16, 8, 4), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 7 * 7, ACTIONS))

    def forward(self, frames):
        return self.net(frames)


class ReplayMemory:
    def __init__(self):
        self.rollouts = []

    def push(self, frames, rewards):
        self.rollouts.append((frames, rewards))

    def sample(self):
        frames, rewards = random.choice(self.rollouts)
        rows = torch.randint(len(frames), (SAMPLE,), device=frames.device)
        return frames[rows], rewards[rows]


def rollout():
    count = ENVIRONMENTS * LENGTH
    return torch.rand(count, 4, SIDE, SIDE, device="cuda"), torch.randn(count, device="cuda")


memory, network = ReplayMemory(), QNetwork().cuda()
optimizer = torch.optim.RMSprop(network.parameters(), lr=1e-4)
for iteration in range(ITERATIONS):
    memory.push(*rollout())
    frames, rewards = memory.sample()
    loss = nn.functional.smooth_l1_loss(network(frames).amax(1), rewards)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
