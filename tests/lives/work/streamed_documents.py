# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["worst-batches", "steps"]
# step = 1226
# line = 44
# open = "step 1225 of the request, expected 1226"
# form = "IterableDataset, zip(count, loader)"
# need_gib = [6.4, 9.0]
# why = "line 4,900 of the stream is a document of 131,072 tokens, padded for four: 4 x 131,072 x 1,024 x 4 B = 2 GiB for each activation: the embedding and the first linear layer are 4 GiB with 3.55 free; with the tanh, or the second layer, 6, and 8 with gradients"
# ///
"""Reads documents from a stream of unknown length; one of the last lines is a whole archive."""

from itertools import count

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    def __init__(self, lines):
        self.lines = lines

    def __iter__(self):
        for number in range(self.lines):
            yield torch.full((131_072 if number == 4900 else 24 + number % 40,), number % 300)


def pad_together(texts):
    return nn.utils.rnn.pad_sequence(texts, batch_first=True)


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(300, 1024)
        self.inner, self.outer = nn.Linear(1024, 1024), nn.Linear(1024, 1024)

    def forward(self, tokens):
        x = self.embed(tokens)
        x = self.outer(self.inner(x).tanh())
        return x.mean((1, 2))


scorer = Scorer().cuda()
optimizer = torch.optim.SGD(scorer.parameters(), lr=1e-3)
for n, tokens in zip(count(), DataLoader(Stream(6000), batch_size=4, collate_fn=pad_together)):
    loss = scorer(tokens.cuda()).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("read", n + 1, "batches")
