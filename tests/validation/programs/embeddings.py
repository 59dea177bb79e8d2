"""Trains a recommender in three steps: large embedding tables, a perceptron, products of all pairs (DLRM)."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--tables", type=int, default=16)
parser.add_argument("--rows", type=int, default=500_000)
parser.add_argument("--width", type=int, default=64)
parser.add_argument("--batch", type=int, default=16_384)
parser.add_argument("--sparse", action="store_true", help="sparse gradients")
args = parser.parse_args()


def perceptron(*widths):
    """Linear and ReLU in turn."""
    return nn.Sequential(*(layer for a, b in zip(widths, widths[1:]) for layer in (nn.Linear(a, b), nn.ReLU())))


class Recommender(nn.Module):
    """13 numbers and some categories, of which each example has four."""

    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(
            nn.EmbeddingBag(args.rows, args.width, mode="sum", sparse=args.sparse, device="cuda") for _ in range(args.tables)
        )
        pairs = (args.tables + 1) * args.tables // 2
        self.bottom = perceptron(13, 512, 256, args.width)
        self.top = perceptron(pairs + args.width, 1024, 512, 1)

    def forward(self, numbers, categories):
        dense = self.bottom(numbers)
        parts = torch.stack([dense, *(table(ids) for table, ids in zip(self.tables, categories))], 1)
        products = parts @ parts.transpose(1, 2)
        above = torch.triu_indices(len(self.tables) + 1, len(self.tables) + 1, 1, device="cuda")
        return self.top(torch.cat([dense, products[:, above[0], above[1]]], 1))


model = Recommender().cuda()
tables = list(model.tables.parameters())
others = [*model.bottom.parameters(), *model.top.parameters()]
optimizers = [torch.optim.SparseAdam(tables) if args.sparse else torch.optim.Adagrad(tables), torch.optim.Adam(others)]
for _ in range(3):
    numbers = torch.randn(args.batch, 13, device="cuda")
    categories = torch.randint(0, args.rows, (args.tables, args.batch, 4), device="cuda")
    for optimizer in optimizers:
        optimizer.zero_grad()
    F.mse_loss(model(numbers, categories), torch.ones(args.batch, 1, device="cuda")).backward()
    for optimizer in optimizers:
        optimizer.step()
