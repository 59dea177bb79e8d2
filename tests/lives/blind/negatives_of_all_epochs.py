# /// expect
# run = "check"
# vram = "2.75GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["next-epoch"]
# step = 385
# line = 72
# form = "epochs x enumerate(loader), the bank is joined when an epoch ends, up to bank_epochs"
# need_gib = [4.7, 5.6]
# why = "an epoch adds 128 x 1,024 features of 128 to the bank, 64 MiB, and 512 x 131,072 x 4 B = 256 MiB to each tensor of similarities; in the fourth epoch the bank has three: 768 MiB for the similarities and for the joined logits, and the log-softmax is the third, 2.25 GiB, with 0.19 of the bank and 2.30 free; an epoch before it was 1.5. Six epochs come to 3 x 1,280 MiB, and the bank keeps a segment of the epoch before, 1 GiB, because it was joined there: 4.75 GiB and the context"
# ///
"""Contrastive learning of sensor data; both views of an epoch stay in a memory bank, as negatives of all later epochs."""

import argparse
from copy import deepcopy

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


class Encoder(nn.Module):
    def __init__(self, features, dim):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(features, 256), nn.ReLU(), nn.Linear(256, dim))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


class MemoryBank:
    def __init__(self, dim, max_epochs):
        self.dim, self.max_epochs = dim, max_epochs
        self.features = torch.empty(0, dim, device="cuda")
        self.fresh, self.sizes = [], []

    def add(self, keys):
        self.fresh.append(keys)

    def commit(self):
        """The features of the epoch that has ended join the bank; the oldest make room if it is full."""
        fresh, self.fresh = torch.cat(self.fresh), []
        self.sizes.append(len(fresh))
        if len(self.sizes) > self.max_epochs:
            self.features = self.features[self.sizes.pop(0) :].clone()
        self.features = torch.cat([self.features, fresh])


class MomentumContrast(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.query = Encoder(args.features, args.dim)
        self.key = deepcopy(self.query).requires_grad_(False)
        self.temperature, self.momentum = args.temperature, args.momentum

    @torch.no_grad()
    def update_key(self):
        for k, q in zip(self.key.parameters(), self.query.parameters()):
            k.mul_(self.momentum).add_(q, alpha=1 - self.momentum)

    def forward(self, first, second, bank):
        q = self.query(first)
        with torch.no_grad():
            self.update_key()
            k = self.key(second)
        positive = (q * k).sum(dim=-1, keepdim=True)
        negative = q @ bank.features.T
        logits = torch.cat([positive, negative], dim=1)
        target = torch.zeros(len(q), dtype=torch.long, device=q.device)
        loss = F.cross_entropy(logits.div_(self.temperature), target)
        return loss, torch.cat([q.detach(), k])


def augment(x):
    return x + 0.1 * torch.randn_like(x)


def train_one_epoch(model, loader, optimizer, bank, epoch, args):
    for i, (x,) in enumerate(loader):
        x = x.cuda()
        loss, keys = model(augment(x), augment(x), bank)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        bank.add(keys)
        if i % args.log_every == 0:
            print(f"epoch {epoch} {i}/{len(loader)} loss {loss.item():.4f} bank {len(bank.features)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=65_536)
    parser.add_argument("--features", type=int, default=64)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--bank-epochs", type=int, default=10)
    parser.add_argument("--temperature", type=float, default=0.1)
    parser.add_argument("--momentum", type=float, default=0.99)
    parser.add_argument("--log-every", type=int, default=64)
    args = parser.parse_args()

    loader = DataLoader(TensorDataset(torch.randn(args.rows, args.features)), args.batch_size, shuffle=True, drop_last=True)
    model = MomentumContrast(args).cuda()
    optimizer = torch.optim.SGD(model.query.parameters(), lr=0.03, momentum=0.9)
    bank = MemoryBank(args.dim, args.bank_epochs)
    for epoch in range(args.epochs):
        train_one_epoch(model, loader, optimizer, bank, epoch, args)
        bank.commit()


if __name__ == "__main__":
    main()
