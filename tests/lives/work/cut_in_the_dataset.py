# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["worst-batches"]
# form = "epochs x batches, two workers, drop_last"
# need_gib = [0.7, 2.9]
# why = "songs have up to 100,000 notes, but the data set cuts 1,024 and the collate function pads to a multiple of 64: 8 x 1,024 x 4,096 x 4 B = 128 MiB for an activation"
# ///
"""Melodies of very different lengths; the data set takes at most 1,024 notes of each, in two workers."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Songs(Dataset):
    def __init__(self, limit):
        self.limit = limit

    def __len__(self):
        return 4807

    def notes(self, k):
        return 100_000 if k % 1601 == 1600 else 40 + 7 * k % 150

    def __getitem__(self, k):
        return torch.arange(min(self.notes(k), self.limit)) % 128


def pad_to_64(songs):
    padded = nn.utils.rnn.pad_sequence(songs, batch_first=True, padding_value=0)
    return nn.functional.pad(padded, (0, -padded.shape[1] % 64))


def train():
    model = nn.Sequential(nn.Embedding(128, 256), nn.Linear(256, 4096), nn.SiLU(), nn.Linear(4096, 128)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
    loader = DataLoader(Songs(1024), batch_size=8, shuffle=False, num_workers=2, drop_last=True, collate_fn=pad_to_64)
    for epoch in range(2):
        for songs in loader:
            songs = songs.cuda()
            loss = nn.functional.cross_entropy(model(songs[:, :-1]).permute(0, 2, 1), songs[:, 1:])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    train()
