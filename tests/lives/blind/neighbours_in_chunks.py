# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["end"]
# form = "epochs x range over starts of a permutation; after it a generator of chunks"
# need_gib = [2.2, 3.1]
# why = "the vectors of 102,400 rows are 102,400 x 512 x 4 B = 200 MiB, twice while they are joined; a chunk of 2,048 rows has 2,048 x 102,400 x 4 B = 800 MiB of similarities, and the one before is there until the next is made: 1.6 GiB and 0.2; all rows at once would be 39 GiB"
# ///
"""Learns vectors of cells by reconstruction, and writes the graph of their nearest neighbours in the end, chunk by chunk."""

import argparse
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Epoch:
    number: int
    loss: float = 0.0
    batches: int = 0

    def add(self, loss):
        self.loss += loss
        self.batches += 1

    def __str__(self):
        return f"epoch {self.number} loss {self.loss / max(1, self.batches):.4f}"


class Autoencoder(nn.Module):
    def __init__(self, genes, width):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(genes, 256), nn.ReLU(), nn.Linear(256, width))
        self.decoder = nn.Sequential(nn.Linear(width, 256), nn.ReLU(), nn.Linear(256, genes))

    def forward(self, x):
        z = self.encoder(x)
        return self.decoder(z), z


def train(model, cells, args):
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for number in range(args.epochs):
        epoch = Epoch(number)
        order = torch.randperm(len(cells))
        for start in range(0, len(order), args.batch_size):
            x = cells[order[start : start + args.batch_size]].cuda()
            rebuilt, z = model(x)
            loss = nn.functional.mse_loss(rebuilt, x) + args.sparsity * z.abs().mean()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            epoch.add(loss.item())
        print(epoch)


@torch.no_grad()
def encode(model, cells, batch_size):
    model.eval()
    parts = [nn.functional.normalize(model.encoder(rows.cuda()), dim=-1) for rows in cells.split(batch_size)]
    return torch.cat(parts)


@torch.no_grad()
def neighbours(vectors, k, chunk):
    for start in range(0, len(vectors), chunk):
        similarity = vectors[start : start + chunk] @ vectors.T
        found = similarity.topk(k + 1, dim=1)
        yield found.indices[:, 1:].cpu(), found.values[:, 1:].cpu()


def write_graph(vectors, args):
    edges, weights = [], []
    for indices, values in neighbours(vectors, args.neighbours, args.chunk):
        edges.append(indices)
        weights.append(values)
    edges, weights = torch.cat(edges), torch.cat(weights)
    print(f"graph of {len(edges)} cells and {edges.numel()} edges")
    return edges, weights


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cells", type=int, default=102_400)
    parser.add_argument("--genes", type=int, default=200)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--neighbours", type=int, default=15)
    parser.add_argument("--chunk", type=int, default=2048)
    parser.add_argument("--sparsity", type=float, default=1e-3)
    parser.add_argument("--lr", type=float, default=1e-3)
    args = parser.parse_args()

    cells = torch.rand(args.cells, args.genes)
    model = Autoencoder(args.genes, args.width).cuda()
    train(model, cells, args)
    write_graph(encode(model, cells, args.batch_size * 8), args)


if __name__ == "__main__":
    main()
