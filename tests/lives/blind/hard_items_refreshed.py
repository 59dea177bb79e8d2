# /// expect
# run = "check"
# vram = "4.25GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["next-epoch"]
# form = "epochs x batches, a table made anew when an epoch begins, batch by batch; epoch >= warmup_epochs"
# need_gib = [2.4, 3.2]
# why = "the vectors of 204,800 items are 204,800 x 512 x 4 B = 400 MiB: the batches and the joined table, beside the table of the epoch before, are 1.17 GiB; the search compares 1,024 users with all items, 800 MiB; the towers and the features of 50 MiB are small; steps of 8,192 candidates have 16 MiB each: 2.4 GiB at most, with what the cache has kept of joined parts, and the context"
# ///
"""Two towers for a shop; from the second epoch on the negatives are the hardest items of a table that each epoch makes anew."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Tower(nn.Module):
    def __init__(self, features, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(features, 256), nn.GELU(), nn.Linear(256, width))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


class Catalogue:
    """Features of all items."""

    def __init__(self, items, features):
        self.features = torch.randn(items, features).cuda()

    def __len__(self):
        return len(self.features)

    def batches(self, size):
        yield from self.features.split(size)


class HardNegatives:
    def __init__(self, catalogue, args):
        self.catalogue, self.args = catalogue, args
        self.table = None

    @torch.no_grad()
    def refresh(self, tower):
        tower.eval()
        parts = [tower(batch) for batch in self.catalogue.batches(self.args.refresh_batch)]
        self.table = torch.cat(parts)
        tower.train()

    @torch.no_grad()
    def pick(self, users):
        scores = users @ self.table.T
        return scores.topk(self.args.hard, dim=1).indices

    def random(self, count):
        return torch.randint(len(self.catalogue), (count, self.args.hard), device="cuda")


class Recommender:
    def __init__(self, args):
        self.args = args
        self.catalogue = Catalogue(args.items, args.features)
        self.users, self.items = Tower(args.features, args.width).cuda(), Tower(args.features, args.width).cuda()
        self.optimizer = torch.optim.Adam([*self.users.parameters(), *self.items.parameters()], lr=args.lr)
        self.negatives = HardNegatives(self.catalogue, args)

    def train_step(self, hard):
        profile = torch.randn(self.args.batch_size, self.args.features).cuda()
        bought = torch.randint(len(self.catalogue), (self.args.batch_size, 1), device="cuda")
        users = self.users(profile)
        wrong = self.negatives.pick(users) if hard else self.negatives.random(len(users))
        candidates = self.catalogue.features[torch.cat([bought, wrong], dim=1)]
        scores = torch.einsum("uw,ucw->uc", users, self.items(candidates))
        loss = F.cross_entropy(scores / 0.05, torch.zeros(len(users), dtype=torch.long, device="cuda"))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def fit(self):
        for epoch in range(self.args.epochs):
            hard = epoch >= self.args.warmup_epochs
            if hard:
                self.negatives.refresh(self.items)
            losses = [self.train_step(hard) for _ in range(self.args.steps)]
            print(f"epoch {epoch} hard {hard} loss {torch.stack(losses).mean().item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name, value in dict(items=204_800, features=64, width=512, batch_size=1024, hard=7, epochs=5, steps=120).items():
        parser.add_argument("--" + name.replace("_", "-"), type=int, default=value)
    parser.add_argument("--refresh-batch", type=int, default=5120)
    parser.add_argument("--warmup-epochs", type=int, default=1)
    parser.add_argument("--lr", type=float, default=1e-3)
    Recommender(parser.parse_args()).fit()
