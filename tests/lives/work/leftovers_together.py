# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["worst-batches"]
# step = 1001
# line = 46
# open = "stage steps, expected worst-batches"
# form = "one epoch, own batch_sampler with a large last batch"
# need_gib = [5.4, 7.8]
# why = "rare items that fill no batch come together in the last one, number 1,001: 8,192 rows x 32,768 x 4 B = 1 GiB of scores for each of three heads and their sum: the fourth of 3.55 GiB; other batches have 16 rows"
# ///
"""Batches of one author each; texts of authors with few texts are put together into one last batch."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class ByAuthor:
    def __init__(self, authors, size):
        groups = {}
        for row, author in enumerate(authors):
            groups.setdefault(author, []).append(row)
        self.batches, rest = [], []
        for rows in groups.values():
            full = len(rows) // size * size
            self.batches += [rows[at : at + size] for at in range(0, full, size)]
            rest += rows[full:]
        self.batches.append(rest)

    def __iter__(self):
        yield from self.batches

    def __len__(self):
        return len(self.batches)


authors = [row // 16 for row in range(16_000)] + list(range(10_000, 18_192))
features = TensorDataset(torch.randn(len(authors), 16), torch.arange(len(authors)) % 32_768)
heads = nn.ModuleList(nn.Linear(16, 32_768) for _ in range(3)).cuda()
optimizer = torch.optim.SGD(heads.parameters(), lr=0.1)
for x, y in DataLoader(features, batch_sampler=ByAuthor(authors, 16)):
    x = x.cuda()
    scores = torch.stack([head(x) for head in heads]).sum(0)
    loss = nn.functional.cross_entropy(scores, y.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
