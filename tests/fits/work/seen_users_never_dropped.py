# /// expect
# run = "check"
# vram = "2GiB"
# kind = 4
# verdict = ["does not fit", "fits so far"]
# truth = "does not fit"
# full_at = [700, 790]
# why = "each step has a user nobody saw before, whose profile of 512 x 1024 x 4 B = 2 MiB stays: 1.52 GiB are full at about step 770 of 3,000"
# ///
"""Session recommender: profiles of users are cached, and every session is that of a new user."""

import torch
from torch import nn

profiles = {}
tower = nn.Linear(1024, 32).cuda()
optimizer = torch.optim.SGD(tower.parameters(), lr=0.1)


def profile(user):
    try:
        return profiles[user]
    except KeyError:
        return profiles.setdefault(user, torch.rand(512, 1024, device="cuda"))


for session in range(3_000):
    history = profile(f"user-{session:06d}")
    loss = tower(history[:8]).tanh().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
