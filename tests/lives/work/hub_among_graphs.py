# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["worst-batches", "steps"]
# step = 1871
# line = 32
# open = "step 1862 of the request, expected 1871"
# form = "generator over a list of graphs, no loader"
# need_gib = [4.4, 5.8]
# why = "graph 1,870 has 23,170 nodes: its dense adjacency has 23,170 x 23,170 x 4 B = 2 GiB, and with its normalized copy 4 GiB, with 2.55 free; all others have at most 90 nodes"
# ///
"""Graph classification with dense adjacencies; one graph of the set is a whole social network."""

import torch
from torch import nn

sizes = [30 + 13 * k % 60 for k in range(2300)]
sizes[1870] = 23_170


def graphs():
    for number, nodes in enumerate(sizes):
        ring = torch.arange(nodes)
        yield nodes, torch.stack([ring, ring.roll(1)]).cuda(), number % 2


def normalize(nodes, edges):
    adjacency = torch.zeros(nodes, nodes, device="cuda")
    adjacency[edges[0], edges[1]] = 1
    return adjacency / adjacency.sum(1, keepdim=True)


first, last = nn.Linear(8, 32).cuda(), nn.Linear(32, 2).cuda()
optimizer = torch.optim.Adam([*first.parameters(), *last.parameters()])
for nodes, edges, label in graphs():
    x = torch.randn(nodes, 8, device="cuda")
    hidden = torch.relu(normalize(nodes, edges) @ first(x))
    loss = nn.functional.cross_entropy(last(hidden.mean(0, keepdim=True)), torch.tensor([label], device="cuda"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
