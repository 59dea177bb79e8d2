# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["worst-batches"]
# step = 961
# line = 53
# form = "epochs x batches, own batch_sampler"
# need_gib = [4.4, 5.8]
# why = "batch 961 has 2,048 tokens: 4 x 16 x 2,048 x 2,048 x 4 B = 1 GiB for the scores, as much for their softmax, in each of two layers; the second softmax is the third GiB, with 2.55 free; backward holds four, and a fifth segment where a small tensor splits a free one"
# ///
"""Classifies texts with attention written out; a sampler of batches goes from the shortest text to the longest."""

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, Sampler


class Texts(Dataset):
    def __init__(self, count):
        self.lengths = [2048 if k % 25 == 7 else 16 + k * 31 % 80 for k in range(count)]

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, k):
        return torch.full((self.lengths[k],), k % 500), k % 4


class ByLength(Sampler):
    def __init__(self, lengths, size):
        self.order = sorted(range(len(lengths)), key=lengths.__getitem__)
        self.size = size

    def __iter__(self):
        for start in range(0, len(self.order), self.size):
            yield self.order[start : start + self.size]

    def __len__(self):
        return len(self.order) // self.size


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(128, 384)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, 16, 8)).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2)
        weights = scores.softmax(-1)
        return x + (weights @ v).transpose(1, 2).flatten(2)


def collate(rows):
    texts, labels = zip(*rows)
    return pad_sequence(texts, batch_first=True), torch.tensor(labels)


texts = Texts(4000)
loader = DataLoader(texts, batch_sampler=ByLength(texts.lengths, 4), collate_fn=collate)
embed, layers, head = nn.Embedding(500, 128).cuda(), nn.Sequential(Attention(), Attention()).cuda(), nn.Linear(128, 4).cuda()
optimizer = torch.optim.Adam([*embed.parameters(), *layers.parameters(), *head.parameters()], lr=1e-4)
for epoch in range(2):
    for tokens, labels in loader:
        loss = nn.functional.cross_entropy(head(layers(embed(tokens.cuda())).mean(1)), labels.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
