# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "graph-kept"
# first_finding = ["retained-graph"]
# lines = [25, 44, 45, 46, 50]
# why = "the entropy is never part of a backward; the sum of 60 keeps each update's graph with probs and log_probs of 4096 x 4096 x 4 B = 64 MiB each: 128 MiB an update, and 3686 MiB are full after about 28"
# ///
"""Policy gradient for an assortment problem with 4096 actions; the mean entropy of an epoch is logged."""

import torch
from torch import nn

STATES, ACTIONS, UPDATES = 4096, 4096, 60


class Policy(nn.Module):
    def __init__(self, features=64):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(features, 256), nn.Tanh(), nn.Linear(256, ACTIONS))

    def forward(self, state):
        return self.layers(state).log_softmax(dim=-1)


def transitions(count):
    for _ in range(count):
        yield (
            torch.randn(STATES, 64, device="cuda"),
            torch.randint(0, ACTIONS, (STATES, 1), device="cuda"),
            torch.randn(STATES, device="cuda"),
        )


policy = Policy().cuda()
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)

for epoch in range(2):
    entropy_sum = 0.0
    for state, action, advantage in transitions(UPDATES):
        optimizer.zero_grad()
        log_probs = policy(state)
        probs = log_probs.exp()
        entropy = -(probs * log_probs).sum(dim=-1).mean()
        loss = -(log_probs.gather(1, action).squeeze(1) * advantage).mean()
        loss.backward()
        optimizer.step()
        entropy_sum = entropy_sum + entropy
    print(f"epoch {epoch}: entropy {entropy_sum.item() / UPDATES:.3f}")
