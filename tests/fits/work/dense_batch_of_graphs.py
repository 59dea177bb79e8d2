# /// expect
# run = "check"
# vram = "6GiB"
# kind = 1
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [26, 40]
# need_gib = [8.5, 26]
# open = "needs 28.61 GiB, expected 8.5..26"
# why = "one of 512 graphs has 16,384 of the 300,000 nodes: a dense batch of 512 x 16,384 x 128 x 4 B = 4 GiB, and its activation 4 GiB more"
# ///
"""Graph transformer input: nodes are laid out densely, padded to the largest graph, as PyG's to_dense_batch does."""

import torch
from torch import nn

NODES, GRAPHS, LARGEST, WIDTH, STEPS = 300_000, 512, 16_384, 128, 80


def to_dense_batch(x, batch):
    counts = torch.bincount(batch)
    largest = int(counts.max())
    start = counts.cumsum(0) - counts
    place = torch.arange(len(batch), device=x.device) - start[batch]
    dense = x.new_zeros(len(counts) * largest, x.shape[1])
    return dense.index_copy(0, batch * largest + place, x).view(len(counts), largest, -1)


def molecules():
    counts = torch.full((GRAPHS,), (NODES - LARGEST) // (GRAPHS - 1))
    counts[0] = LARGEST
    return torch.arange(GRAPHS).repeat_interleave(counts)


batch = molecules().cuda()
model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh()).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(STEPS):
    x = torch.randn(len(batch), WIDTH, device="cuda")
    loss = model(to_dense_batch(x, batch)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
