# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 35
# requested_bytes = 5368709120
# says_any = [35, "padded"]
# steps = 2
# ///
"""Reads samples with two worker processes and pads each batch to its longest sample: the third batch has an outlier."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

WIDTH = 1024
LENGTHS = [100, 200, 150, 120, 90, 300, 250, 110, 327680, 80, 60, 70, 100, 100, 100, 100]


class Lengths(Dataset):
    def __len__(self):
        return len(LENGTHS)

    def __getitem__(self, index):
        return torch.tensor(LENGTHS[index])


def main():
    model = nn.Linear(WIDTH, 64).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(Lengths(), batch_size=4, num_workers=2, persistent_workers=True)
    for number, lengths in enumerate(loader):
        longest = int(lengths.max())
        padded = torch.zeros(len(lengths), longest, WIDTH, device="cuda")
        optimizer.zero_grad()
        model(padded).mean().backward()
        optimizer.step()
        print("batch", number, tuple(padded.shape))


if __name__ == "__main__":
    main()
