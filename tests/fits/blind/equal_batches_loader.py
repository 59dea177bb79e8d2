# /// expect
# run = "check"
# vram = "6GiB"
# kind = 5
# truth = "fits"
# verdict = ["fits"]
# not_says = ["so far"]
# need_gib = [1.4, 4.0]
# why = "equal batches from a loader that drops the last one, and nothing after: 512 x 196 x 768 x 4 B = 0.29 GiB for an activation, four or five of them"
# ///
"""Trains one mixer block on patches from a DataLoader whose batches are all equal, for ninety epochs."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

IMAGES, PATCHES, WIDTH, CLASSES, BATCH, EPOCHS = 40_000, 196, 768, 100, 512, 90


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Embedding(256, WIDTH)
        self.channel = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH), nn.ReLU())
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, codes):
        return self.head(self.channel(self.patch(codes)).mean(1))


codes = torch.randint(256, (IMAGES, PATCHES), dtype=torch.int32)
labels = torch.randint(CLASSES, (IMAGES,))
loader = DataLoader(TensorDataset(codes, labels), batch_size=BATCH, shuffle=True, drop_last=True)
model = Mixer().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(EPOCHS):
    for batch, target in loader:
        loss = nn.functional.cross_entropy(model(batch.cuda()), target.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
