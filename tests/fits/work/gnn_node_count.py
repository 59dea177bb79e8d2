# /// expect
# run = "check"
# vram = "8GiB"
# kind = 1
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [45, 44]
# need_gib = [11, 21]
# why = "edge_index.max() + 1 is 3,000,000 nodes; the table has 3,000,000 x 256 x 4 B = 2.86 GiB, its gradient as much, Adam twice as much: 11.4 GiB"
# ///
"""Learns node embeddings on a citation graph; the number of nodes is read from the edges."""

import torch
from torch import nn

NODES, EDGES, WIDTH, BATCH, STEPS = 3_000_000, 400_000, 256, 65536, 100


def citations():
    edges = torch.randint(NODES, (2, EDGES), generator=torch.Generator().manual_seed(1))
    edges[0, -1] = NODES - 1
    return edges


class Node2Vec(nn.Module):
    def __init__(self, edge_index):
        super().__init__()
        self.count = int(edge_index.max()) + 1
        self.table = nn.Embedding(self.count, WIDTH, device=edge_index.device)

    def loss(self, source, target):
        a, b = self.table(source), self.table(target)
        noise = self.table(torch.randint(self.count, target.shape, device=target.device))
        return nn.functional.softplus(-(a * b).sum(-1)).mean() + nn.functional.softplus((a * noise).sum(-1)).mean()


edge_index = citations().to("cuda")
model = Node2Vec(edge_index)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(STEPS):
    chosen = torch.randint(EDGES, (BATCH,), device="cuda")
    loss = model.loss(*edge_index[:, chosen])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
