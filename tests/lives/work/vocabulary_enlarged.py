# /// expect
# run = "check"
# vram = "3.5GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["load"]
# step = 1
# line = 21
# open = "stage steps, expected load"
# form = "for over a list comprehension of lengths"
# need_gib = [4.4, 4.9]
# why = "the table of 524,288 x 1,024 x 4 B = 2 GiB is copied into one with 64 rows more: 4 GiB with 3.05 free; the steps need 2"
# ///
"""Adds 64 tokens to a pretrained vocabulary: a larger table is made beside the old one, as resize_token_embeddings does."""

import torch
from torch import nn


def enlarge(old, extra):
    new = nn.Embedding(old.num_embeddings + extra, old.embedding_dim, device=old.weight.device)
    with torch.no_grad():
        new.weight[: old.num_embeddings] = old.weight
    return new


vocabulary = nn.Embedding(524_288, 1024, device="cuda")
vocabulary = enlarge(vocabulary, 64).requires_grad_(False)
reader = nn.GRUCell(1024, 32).cuda()
optimizer = torch.optim.Adam(reader.parameters(), lr=1e-3)
for length in [2 + k % 5 for k in range(700)]:
    state = torch.zeros(8, 32, device="cuda")
    for token in torch.randint(524_288, (length, 8), device="cuda"):
        state = reader(vocabulary(token), state)
    loss = state.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
