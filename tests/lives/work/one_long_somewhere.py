# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# stage = ["worst-batches"]
# line = 56
# form = "enumerate of a loader, own sampler with a seed"
# need_gib = [5.4, 7.8]
# why = "the one text of 16,384 tokens is in one of 1,500 batches of an order drawn with seed 11: 4 x 16,384 x 4,096 x 4 B = 1 GiB for the embedding and for each of three products: four with 3.55 free"
# ///
"""Permuted texts; the position of the longest one follows from the seed of the sampler."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Sampler


class Permuted(Sampler):
    def __init__(self, count, seed):
        self.count, self.seed = count, seed

    def __len__(self):
        return self.count

    def __iter__(self):
        generator = torch.Generator().manual_seed(self.seed)
        # The first texts are never drawn early, so that a first look sees short ones.
        order = torch.randperm(self.count, generator=generator).tolist()
        order.remove(4711)
        return iter([*order[:4800], 4711, *order[4800:]])


class Corpus(Dataset):
    def __len__(self):
        return 6000

    def __getitem__(self, k):
        size = 16_384 if k == 4711 else 8 + k % 24
        return {"ids": torch.full((size,), k % 100), "size": size}


def collate(rows):
    return nn.utils.rnn.pad_sequence([row["ids"] for row in rows], batch_first=True), max(row["size"] for row in rows)


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(100, 4096)
        self.scale = nn.Parameter(torch.ones(3, 4096))

    def forward(self, ids):
        x = self.embed(ids)
        for scale in self.scale:
            x = x * scale
        return x.mean()


mixer = Mixer().cuda()
optimizer = torch.optim.SGD(mixer.parameters(), lr=0.1)
for index, (ids, size) in enumerate(DataLoader(Corpus(), batch_size=4, sampler=Permuted(6000, 11), collate_fn=collate)):
    loss = mixer(ids.cuda())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
