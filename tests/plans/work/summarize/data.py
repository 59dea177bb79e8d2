"""The data of the training."""

import torch
from torch.utils.data import Dataset


class Pairs(Dataset):
    """Random articles and summaries of fixed length."""

    def __init__(self, count, vocab, source_len, target_len, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.source = torch.randint(1, vocab, (count, source_len), generator=g)
        self.target = torch.randint(1, vocab, (count, target_len), generator=g)

    def __len__(self):
        return len(self.source)

    def __getitem__(self, i):
        return self.source[i], self.target[i]
