# /// expect
# run = "check"
# vram = "6GiB"
# kind = 1
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [32, 43]
# need_gib = [12, 26]
# why = "one user has 8,192 of 1,500,000 events and is in the first batch: 1024 x 8192 x 128 x 4 B = 4 GiB for the padded history, 4 GiB for its activation"
# ///
"""Sequential recommendation: histories of a batch of users are padded to the longest, which is counted by unique."""

import torch
from torch import nn

EVENTS, USERS, LONGEST, ITEMS, WIDTH, BATCH, STEPS = 1_500_000, 100_000, 8192, 50_000, 128, 1024, 90


def events():
    users = torch.randint(USERS, (EVENTS,), generator=torch.Generator().manual_seed(1))
    users[:LONGEST] = 7
    return users.sort().values


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(ITEMS, WIDTH)
        self.mix = nn.Linear(WIDTH, WIDTH)

    def forward(self, history):
        return torch.tanh(self.mix(self.items(history))).mean(1)


_, counts = events().cuda().unique_consecutive(return_counts=True)
model = Encoder().cuda()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.01)
for step in range(STEPS):
    longest = counts[step * BATCH : (step + 1) * BATCH].max().item()
    history = torch.randint(ITEMS, (BATCH, longest), device="cuda")
    loss = model(history).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
