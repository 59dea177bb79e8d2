# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# stage = ["end"]
# form = "early stopping in a class, break on a loss; afterwards a refit of as many epochs as the best one"
# need_gib = [2.2, 3.0]
# why = "a model has weights, gradient and two moments of 32,768 x 2,048 x 4 B = 256 MiB each, and Adam's root of 256: 1.25 GiB; the refit makes a second model while the first one, its gradient and its moments, 1 GiB, are still there: 2.25 GiB, whenever the loss stops to fall"
# ///
"""Finds the number of epochs by early stopping, and then trains a new model on all of the data for as many epochs."""

import argparse

import torch
from torch import nn
from torch.utils.data import ConcatDataset, DataLoader, TensorDataset


class EarlyStopping:
    def __init__(self, patience, min_delta=1e-3):
        self.patience, self.min_delta = patience, min_delta
        self.best, self.best_epoch, self.waited = None, 0, 0

    def __call__(self, loss, epoch):
        if self.best is None or loss < self.best - self.min_delta:
            self.best, self.best_epoch, self.waited = loss, epoch, 0
        else:
            self.waited += 1
        return self.waited >= self.patience


class Tagger(nn.Module):
    def __init__(self, words, width, tags):
        super().__init__()
        self.words, self.out = nn.Embedding(words, width), nn.Linear(width, tags)

    def forward(self, ids):
        return self.out(torch.relu(self.words(ids)))


def make_split(rows, args):
    return TensorDataset(torch.randint(args.words, (rows, args.tokens)), torch.randint(args.tags, (rows, args.tokens)))


class Runner:
    def __init__(self, args):
        self.args = args
        self.train_set, self.val_set = make_split(6400, args), make_split(640, args)

    def build(self):
        model = Tagger(self.args.words, self.args.width, self.args.tags).cuda()
        return model, torch.optim.Adam(model.parameters(), lr=self.args.lr)

    def loss(self, model, ids, tags):
        return nn.functional.cross_entropy(model(ids.cuda()).flatten(0, 1), tags.cuda().flatten())

    def train_epoch(self, model, optimizer, dataset):
        model.train()
        for ids, tags in DataLoader(dataset, self.args.batch_size, shuffle=True):
            optimizer.zero_grad()
            self.loss(model, ids, tags).backward()
            optimizer.step()

    @torch.no_grad()
    def evaluate(self, model):
        model.eval()
        losses = [self.loss(model, ids, tags).item() for ids, tags in DataLoader(self.val_set, self.args.batch_size)]
        return sum(losses) / len(losses)

    def search(self):
        self.model, self.optimizer = self.build()
        stopper = EarlyStopping(self.args.patience)
        for epoch in range(1, self.args.max_epochs + 1):
            self.train_epoch(self.model, self.optimizer, self.train_set)
            loss = self.evaluate(self.model)
            print(f"epoch {epoch} validation {loss:.4f}")
            if stopper(loss, epoch):
                print(f"stopped early, best was epoch {stopper.best_epoch}")
                break
        return max(1, stopper.best_epoch)

    def refit(self, epochs):
        model, optimizer = self.build()
        everything = ConcatDataset([self.train_set, self.val_set])
        for _ in range(epochs):
            self.train_epoch(model, optimizer, everything)
        return model


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name, value in dict(words=32_768, width=2048, tags=20, tokens=16, batch_size=64, max_epochs=10, patience=3).items():
        parser.add_argument("--" + name.replace("_", "-"), type=int, default=value)
    parser.add_argument("--lr", type=float, default=1e-3)
    runner = Runner(parser.parse_args())
    final = runner.refit(runner.search())
    print("parameters", sum(p.numel() for p in final.parameters()))
