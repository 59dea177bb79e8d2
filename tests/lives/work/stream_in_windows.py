# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits"]
# stage = ["worst-batches"]
# open = "fits so far, expected fits"
# form = "IterableDataset that cuts, for with break at a count"
# need_gib = [0.6, 1.8]
# why = "a book of 300,000 letters comes at line 3,000, and the stream cuts it into windows of at most 256: 8 x 256 x 4,096 x 4 B = 32 MiB for an activation"
# ///
"""A stream of lines, of which some are books: it yields windows of at most 256 letters, so a book becomes many items."""

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


class Windows(IterableDataset):
    def __init__(self, size):
        self.size = size

    def lines(self):
        number = 0
        while True:
            yield torch.arange(300_000 if number == 3000 else 30 + number % 50) % 96
            number += 1

    def __iter__(self):
        for line in self.lines():
            yield from line.split(self.size)


letters = nn.Sequential(nn.Embedding(96, 128), nn.Linear(128, 4096), nn.Hardswish(), nn.Linear(4096, 96)).cuda()
optimizer = torch.optim.SGD(letters.parameters(), lr=0.01)
done = 0
for window in DataLoader(Windows(256), batch_size=8, collate_fn=lambda rows: nn.utils.rnn.pad_sequence(rows, batch_first=True)):
    window = window.cuda()
    loss = nn.functional.cross_entropy(letters(window).flatten(0, 1), window.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    done += 1
    if done == 1400:
        break
