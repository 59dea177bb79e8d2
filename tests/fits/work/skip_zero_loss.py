# /// expect
# run = "check"
# vram = "3.6GiB"
# kind = 3
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [44, 45]
# need_gib = [4.4, 8.5]
# why = "table 262,144 x 1024 x 4 B = 1 GiB, its gradient 1 GiB, Adam's moments 2 GiB; a loss of 0 never happens: the labels are random"
# ///
"""A recommender that skips batches whose loss is zero, as hinge losses often are late in training."""

import torch
from torch import nn

ITEMS, WIDTH, BATCH, STEPS = 262_144, 1024, 4096, 1000


class Factorization(nn.Module):
    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(ITEMS, WIDTH, device="cuda")
        self.user = nn.Linear(32, WIDTH, device="cuda")

    def forward(self, user, item):
        return (self.user(user) * self.items(item)).mean(dim=1)


def hinge(positive, negative):
    return torch.relu(1.0 - positive + negative).mean()


model = Factorization()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
skipped = 0
for step in range(STEPS):
    user = torch.randn(BATCH, 32, device="cuda")
    liked, other = torch.randint(ITEMS, (2, BATCH), device="cuda")
    loss = hinge(model(user, liked), model(user, other))
    if loss.item() == 0:
        skipped += 1
        continue
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("skipped", skipped)
