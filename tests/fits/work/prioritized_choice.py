# /// expect
# run = "check"
# vram = "6GiB"
# kind = 10
# truth = "fits"
# verdict = ["fits"]
# need_gib = [1.4, 3.8]
# why = "the replay has 262,144 x 1024 x 4 B = 1 GiB; a sample of 8,192 rows 32 MiB"
# ///
"""Prioritized replay: NumPy draws rows with probabilities that come from the network's errors."""

import numpy as np
import torch
from torch import nn

CAPACITY, OBSERVATION, SAMPLE, STEPS = 262_144, 1024, 8192, 5


class Replay:
    def __init__(self):
        self.observations = torch.randn(CAPACITY, OBSERVATION, device="cuda")
        self.returns = torch.randn(CAPACITY, device="cuda")

    def priorities(self, critic):
        with torch.no_grad():
            error = torch.cat([critic(part).squeeze(1) for part in self.observations.split(65536)]) - self.returns
        return error.abs()

    def sample(self, critic):
        priorities = self.priorities(critic)
        share = (priorities / priorities.sum()).cpu().double().numpy()
        rows = np.random.choice(CAPACITY, SAMPLE, p=share / share.sum())
        rows = torch.from_numpy(rows).cuda()
        return self.observations[rows], self.returns[rows]


replay = Replay()
critic = nn.Sequential(nn.Linear(OBSERVATION, 256), nn.ReLU(), nn.Linear(256, 1)).cuda()
optimizer = torch.optim.Adam(critic.parameters(), lr=3e-4)
for step in range(STEPS):
    observations, returns = replay.sample(critic)
    loss = nn.functional.huber_loss(critic(observations).squeeze(1), returns)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
