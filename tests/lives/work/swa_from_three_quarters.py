# /// expect
# run = "check"
# vram = "5.25GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["later-steps"]
# open = "stage next-epoch, expected later-steps"
# step = 901
# line = 72
# form = "while global_step < total, for batch in loader; global_step >= a property, a fraction of the total"
# need_gib = [6.4, 6.7]
# why = "weights, momentum and gradient are 3 x 196,608 x 2,048 x 4 B = 3 x 1.5 GiB, 4.5 of 4.8 free; after 75 % of 1,200 steps the average is made, without a gradient: 4.5 GiB again; the gradient of the next step is the fourth: 6 GiB. The validation comes every 200 steps"
# ///
"""Stochastic weight averaging in the last quarter of the training, of a model of two items that are bought together."""

import argparse

import torch
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel
from torch.utils.data import DataLoader, TensorDataset


class Together(nn.Module):
    def __init__(self, items, width):
        super().__init__()
        self.vectors = nn.Embedding(items, width, device="cuda")
        self.scale = nn.Parameter(torch.ones((), device="cuda"))

    def forward(self, pairs):
        left, right = self.vectors(pairs).unbind(dim=1)
        return self.scale * nn.functional.cosine_similarity(left, right)


class Fit:
    def __init__(self, args):
        self.args = args
        self.model = Together(args.items, args.width)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=args.lr, momentum=0.9)
        self.swa_model = None
        self.swa_scheduler = SWALR(self.optimizer, swa_lr=args.swa_lr, anneal_epochs=5)
        self.global_step = 0
        self.train_loader = self.loader(12_800, shuffle=True)
        self.val_loader = self.loader(1280, shuffle=False)

    def loader(self, rows, shuffle):
        pairs, bought = torch.randint(self.args.items, (rows, 2)), torch.randint(2, (rows,)).float()
        return DataLoader(TensorDataset(pairs, bought), self.args.batch_size, shuffle=shuffle)

    @property
    def swa_start(self):
        return int(self.args.max_steps * self.args.swa_fraction)

    def average(self):
        if self.global_step < self.swa_start or self.global_step % self.args.swa_every:
            return
        if self.swa_model is None:
            self.swa_model = AveragedModel(self.model)
        self.swa_model.update_parameters(self.model)
        self.swa_scheduler.step()

    @torch.no_grad()
    def validate(self):
        model = self.swa_model or self.model
        model.eval()
        losses = [nn.functional.mse_loss(model(pairs.cuda()), bought.cuda()).item() for pairs, bought in self.val_loader]
        model.train()
        return sum(losses) / len(losses)

    def train_step(self, pairs, bought):
        loss = nn.functional.mse_loss(self.model(pairs), bought)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def run(self):
        while self.global_step < self.args.max_steps:
            for pairs, bought in self.train_loader:
                self.train_step(pairs.cuda(), bought.cuda())
                self.global_step += 1
                self.average()
                if self.global_step % self.args.val_every == 0:
                    print(f"{self.global_step}: {self.validate():.4f}")
                if self.global_step >= self.args.max_steps:
                    break


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=196_608)
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--max-steps", type=int, default=1200)
    parser.add_argument("--swa-fraction", type=float, default=0.75)
    parser.add_argument("--swa-every", type=int, default=20)
    parser.add_argument("--val-every", type=int, default=200)
    parser.add_argument("--lr", type=float, default=0.5)
    parser.add_argument("--swa-lr", type=float, default=0.05)
    Fit(parser.parse_args()).run()
