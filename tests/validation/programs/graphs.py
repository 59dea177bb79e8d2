"""Trains a graph network on a random graph in three steps: by a sparse product, or by messages along the edges."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("how", choices=["sparse", "messages"])
parser.add_argument("--nodes", type=int, default=200_000)
parser.add_argument("--degree", type=int, default=8)
parser.add_argument("--width", type=int, default=256)
args = parser.parse_args()

nodes, edges = args.nodes, args.nodes * args.degree
sources = torch.randint(0, nodes, (edges,))
targets = torch.arange(nodes).repeat_interleave(args.degree)


class Sparse(nn.Module):
    """The adjacency in compressed rows times the features."""

    def __init__(self):
        super().__init__()
        rows = torch.arange(0, edges + 1, args.degree)
        values = torch.full((edges,), 1 / args.degree)
        self.adjacency = torch.sparse_csr_tensor(rows, sources, values, (nodes, nodes)).cuda()
        self.first, self.second = nn.Linear(args.width, args.width), nn.Linear(args.width, 40)

    def forward(self, x):
        return self.adjacency @ self.second(F.relu(self.adjacency @ self.first(x)))


class Messages(nn.Module):
    """Gathered at the edges, scattered back to the nodes."""

    def __init__(self):
        super().__init__()
        self.message = nn.ModuleList(nn.Linear(2 * args.width, args.width) for _ in range(2))
        self.out = nn.Linear(args.width, 40)
        self.sources, self.targets = sources.cuda(), targets.cuda()

    def forward(self, x):
        for message in self.message:
            along = F.relu(message(torch.cat([x[self.sources], x[self.targets]], 1)))
            x = torch.zeros_like(x).index_add_(0, self.targets, along) / args.degree
        return self.out(x)


model = (Sparse if args.how == "sparse" else Messages)().cuda()
features = torch.randn(nodes, args.width, device="cuda")
labels = torch.randint(0, 40, (nodes,), device="cuda")
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    optimizer.zero_grad()
    F.cross_entropy(model(features), labels).backward()
    optimizer.step()
