# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# stage = ["next-epoch", "save", "later-steps"]
# open = "stage evaluation, expected next-epoch or save or later-steps"
# line = 42
# form = "for epoch in range(start, epochs) of a class; is_best from a loss of the validation decides"
# need_gib = [5.8, 6.1]
# why = "weights and gradient are 2 x 102,400 x 1,024 x 4 B = 800 MiB, and each improvement of the validation leaves a copy of the weights, 400 MiB: with 2,611 MiB free the fifth is refused, at whatever epoch it comes; if all 12 epochs improve, as most do when a table of words is trained from nothing, it is 5,600 MiB; if fewer than five do, it fits, so a loss decides"
# ///
"""Keeps a copy of the weights each time the validation gets better, to average the good ones at the end."""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Sentiment(nn.Module):
    def __init__(self, words, width, classes=2):
        super().__init__()
        self.words = nn.EmbeddingBag(words, width)
        self.out = nn.Linear(width, classes)

    def forward(self, ids):
        return self.out(self.words(ids))


class Snapshots:
    def __init__(self):
        self.best, self.states = float("inf"), []

    def is_best(self, value):
        better = value < self.best
        self.best = min(value, self.best)
        return better

    def keep(self, model):
        self.states.append({name: value.clone() for name, value in model.state_dict().items()})

    def average_into(self, model):
        if not self.states:
            return
        for name, value in model.state_dict().items():
            value.zero_()
            for state in self.states:
                value.add_(state[name], alpha=1 / len(self.states))


class Trainer:
    def __init__(self, args):
        self.args, self.snapshots = args, Snapshots()
        self.model = Sentiment(args.words, args.width).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=args.lr)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, step_size=4, gamma=0.5)
        self.train_loader, self.val_loader = self.loader(6400), self.loader(640)

    def loader(self, rows):
        ids, labels = torch.randint(self.args.words, (rows, 24)), torch.randint(2, (rows,))
        return DataLoader(TensorDataset(ids, labels), self.args.batch_size, shuffle=True)

    def loss(self, ids, labels):
        return nn.functional.cross_entropy(self.model(ids.cuda()), labels.cuda())

    def train_one_epoch(self):
        self.model.train()
        for ids, labels in self.train_loader:
            self.optimizer.zero_grad()
            self.loss(ids, labels).backward()
            self.optimizer.step()

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        return sum(self.loss(ids, labels).item() for ids, labels in self.val_loader) / len(self.val_loader)

    def fit(self):
        for epoch in range(self.args.start_epoch, self.args.epochs):
            self.train_one_epoch()
            self.scheduler.step()
            value = self.validate()
            if self.snapshots.is_best(value):
                self.snapshots.keep(self.model)
            print(f"epoch {epoch} validation {value:.4f} snapshots {len(self.snapshots.states)}")
        self.snapshots.average_into(self.model)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--words", type=int, default=102_400)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--start-epoch", type=int, default=0)
    parser.add_argument("--lr", type=float, default=1.0)
    Trainer(parser.parse_args()).fit()
