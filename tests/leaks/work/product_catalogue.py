# /// expect
# run = "check"
# vram = "3GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = ["indexing.py:9"]
# keeps_mib = 32
# allocates = ["indexing.py:10"]
# full_at = [75, 84]
# why = "build() in catalogue/indexing.py keeps 64 x 512 x 256 x 4 B = 32 MiB of each of 150 batches of the DataLoader: 4.7 GiB"
# ///
"""A search index of product descriptions; the loop over the DataLoader is in the module that builds the index."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from catalogue.indexing import build

PRODUCTS, LENGTH, WIDTH, VOCABULARY = 9600, 512, 256, 20_000


class Descriptions(Dataset):
    def __len__(self):
        return PRODUCTS

    def __getitem__(self, number):
        return torch.full((LENGTH,), number % VOCABULARY)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, tokens):
        return self.norm(self.embed(tokens))


index = build(Encoder().to("cuda"), DataLoader(Descriptions(), batch_size=64))
print("batches", len(index))
