# /// expect
# run = "check"
# vram = "4GiB"
# kind = 5
# truth = "does not fit"
# verdict = ["does not fit", "fits so far"]
# why = "in the third epoch, from step 24,000 on, a batch has 65,536 molecules: each of 220 residual blocks saves two maps of 65,536 x 64 x 4 B = 16 MiB and more: over 6.8 GiB, with 3.52 free"
# ///
"""Molecule fingerprints through 220 residual blocks; the batch sampler grows its batches by epoch."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Fingerprints(Dataset):
    def __len__(self):
        return 1 << 20

    def __getitems__(self, indices):
        return [torch.rand(len(indices), 64)]


class GrowingBatches:
    def __init__(self):
        self.epoch = -1

    def __len__(self):
        return 12_000

    def __iter__(self):
        self.epoch += 1
        size = 1 << (5, 6, 16)[min(self.epoch, 2)]
        for _ in range(12_000):
            yield range(size)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(64, 64), nn.Linear(64, 64)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


loader = DataLoader(Fingerprints(), batch_sampler=GrowingBatches(), collate_fn=lambda parts: parts[0])
net = nn.Sequential(*[Residual() for _ in range(220)], nn.Linear(64, 1)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)
for epoch in range(4):
    for prints in loader:
        loss = net(prints.cuda()).sigmoid().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
