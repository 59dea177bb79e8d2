# /// expect
# run = "check"
# vram = "2GiB"
# kind = 5
# truth = "fits"
# verdict = ["fits", "fits so far"]
# need_gib = [0.4, 1.3]
# why = "the first epoch has 16,384 rows a batch: input, hidden and output of 16,384 x 128 x 4 B = 8 MiB each; the next two have half and a quarter, and there are 150,000 passes"
# ///
"""Ranks songs with batches that shrink by epoch."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Shrinking:
    def __init__(self, batches):
        self.batches, self.size = batches, 32_768

    def __len__(self):
        return self.batches

    def __iter__(self):
        self.size //= 2
        for _ in range(self.batches):
            yield range(self.size)


class Songs(TensorDataset):
    def __getitems__(self, rows):
        return self.tensors[0][rows.start : rows.stop]


songs = Songs(torch.rand(16_384, 128))
loader = DataLoader(songs, batch_sampler=Shrinking(50_000), collate_fn=lambda batch: batch)
net = nn.Sequential(nn.Linear(128, 128), nn.Hardtanh(), nn.Linear(128, 1)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for epoch in range(3):
    for batch in loader:
        score = net(batch.cuda())
        optimizer.zero_grad()
        score.var().neg().backward()
        optimizer.step()
    print("epoch", epoch, "size", len(batch))
