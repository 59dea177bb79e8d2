# /// expect
# run = "check"
# vram = "8GiB"
# kind = 4
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [2.3, 5.0]
# why = "a deque of at most 4 rollouts of 0.5 GiB, with the next one beside it: 2.5 GiB, and little for the network"
# ///
"""PPO-like training that keeps the last four rollouts in a ring: growth ends with the fourth."""

from collections import deque

import torch
from torch import nn

ENVIRONMENTS, LENGTH, OBSERVATION, KEPT, UPDATES, MINIBATCH = 1024, 128, 1024, 4, 500, 4096


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(OBSERVATION, 256), nn.Tanh())
        self.value = nn.Linear(256, 1)
        self.policy = nn.Linear(256, 8)

    def forward(self, observation):
        h = self.body(observation)
        return torch.distributions.Categorical(logits=self.policy(h)), self.value(h).squeeze(-1)


def collect():
    return torch.randn(ENVIRONMENTS * LENGTH, OBSERVATION, device="cuda")


def update(agent, optimizer, batch):
    distribution, value = agent(batch)
    actions = distribution.sample()
    loss = -distribution.log_prob(actions).mean() + value.square().mean() - 0.01 * distribution.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


agent = Agent().cuda()
optimizer = torch.optim.Adam(agent.parameters(), lr=3e-4)
recent = deque(maxlen=KEPT)
for _ in range(UPDATES):
    recent.append(collect())
    for rollout in recent:
        update(agent, optimizer, rollout[torch.randint(len(rollout), (MINIBATCH,), device="cuda")])
