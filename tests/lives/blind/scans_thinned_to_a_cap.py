# /// expect
# run = "check"
# vram = "4.25GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["worst-batches"]
# form = "epochs x zip(count, loader), a collate method that draws at most max_points"
# need_gib = [2.1, 3.6]
# why = "a scan has up to 60,000 points, of which the collate method keeps 8,192: the last layer is 8 x 8,192 x 2,048 x 4 B = 512 MiB; its ReLU is kept, and the backward pass has the gradients of the maximum and of the ReLU: 1.5 GiB, with 0.1 of the layers below, and in the cache stays what the shorter batches before had, at most three tensors just below 512 MiB, 1.5 GiB; uncut it would be 11 GiB"
# ///
"""Classifies laser scans of very different size with a PointNet; scans above the cap are thinned at random."""

import argparse
import itertools
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Scans(Dataset):
    def __init__(self, count, classes):
        rng = random.Random(5)
        self.sizes = [int(1500 * rng.paretovariate(1.2)) for _ in range(count)]
        self.sizes = [min(size, 60_000) for size in self.sizes]
        self.sizes[count // 2] = 60_000
        self.classes = classes

    def __len__(self):
        return len(self.sizes)

    def __getitem__(self, index):
        return torch.rand(self.sizes[index], 3), index % self.classes


class Thinner:
    max_points = 8192

    def __init__(self, seed=0):
        self.generator = torch.Generator().manual_seed(seed)

    def thin(self, points):
        if len(points) <= self.max_points:
            return points
        return points[torch.randperm(len(points), generator=self.generator)[: self.max_points]]

    def collate(self, items):
        clouds = [self.thin(points) for points, _ in items]
        longest = max(map(len, clouds))
        batch = torch.zeros(len(clouds), longest, 3)
        for slot, cloud in zip(batch, clouds):
            slot[: len(cloud)] = cloud
        return batch, torch.tensor([label for _, label in items])


class PointNet(nn.Module):
    def __init__(self, classes, widths=(3, 64, 128, 2048)):
        super().__init__()
        self.layers = nn.ModuleList(itertools.starmap(nn.Linear, itertools.pairwise(widths)))
        self.head = nn.Sequential(nn.Linear(widths[-1], 256), nn.ReLU(), nn.Dropout(0.3), nn.Linear(256, classes))

    def forward(self, points):
        x = points
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.head(x.max(dim=1).values)


class Runner:
    def __init__(self, args):
        self.args = args
        self.train_set = Scans(args.scans, args.classes)
        self.loader = DataLoader(self.train_set, args.batch_size, shuffle=True, drop_last=True, collate_fn=Thinner().collate)
        self.model = PointNet(args.classes).cuda()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=args.lr)
        self.scheduler = torch.optim.lr_scheduler.OneCycleLR(self.optimizer, args.lr, total_steps=args.epochs * len(self.loader))

    def train_one_epoch(self, epoch):
        self.model.train()
        for i, (points, labels) in zip(itertools.count(1), self.loader):
            logits = self.model(points.cuda())
            loss = nn.functional.cross_entropy(logits, labels.cuda(), label_smoothing=0.1)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.scheduler.step()
            if i % self.args.log_interval == 0:
                print(f"epoch {epoch} {i}/{len(self.loader)} loss {loss.item():.4f} lr {self.scheduler.get_last_lr()[0]:.2e}")

    def run(self):
        for epoch in range(self.args.epochs):
            self.train_one_epoch(epoch)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--scans", type=int, default=2000)
    parser.add_argument("--classes", type=int, default=40)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--log-interval", type=int, default=50)
    parser.add_argument("--lr", type=float, default=1e-3)
    torch.manual_seed(0)
    Runner(parser.parse_args()).run()
