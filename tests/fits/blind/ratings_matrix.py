# /// expect
# run = "check"
# vram = "6GiB"
# kind = 1
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [40, 34]
# need_gib = [20, 60]
# why = "users 0..49,999 and items 0..39,999 are read from 500,000 ratings: a dense matrix of 50,000 x 40,000 x 4 B = 7.45 GiB, and the product and its error as much each"
# ///
"""Matrix completion on a dense ratings matrix whose shape is read from the ratings."""

import torch
from torch import nn

USERS, ITEMS, RATINGS, RANK, STEPS = 50_000, 40_000, 500_000, 32, 300


def ratings():
    generator = torch.Generator().manual_seed(2)
    users = torch.randint(USERS, (RATINGS,), generator=generator)
    items = torch.randint(ITEMS, (RATINGS,), generator=generator)
    users[-1], items[0] = USERS - 1, ITEMS - 1
    return users, items, torch.randint(1, 6, (RATINGS,), generator=generator).float()


class Completion(nn.Module):
    def __init__(self, users, items):
        super().__init__()
        self.user = nn.Parameter(torch.randn(users, RANK, device="cuda") * 0.1)
        self.item = nn.Parameter(torch.randn(items, RANK, device="cuda") * 0.1)

    def forward(self):
        return self.user @ self.item.t()


def main():
    users, items, stars = (t.cuda() for t in ratings())
    shape = users.max().item() + 1, items.max().item() + 1
    table = torch.zeros(shape, device="cuda")
    table[users, items] = stars
    model = Completion(*shape)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(STEPS):
        loss = ((model() - table) * (table > 0)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
