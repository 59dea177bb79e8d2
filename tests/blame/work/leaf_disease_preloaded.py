# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "data-on-device"
# first_finding = ["dataset-on-gpu"]
# lines = [25, 48]
# saves_mib = 4176
# why = "22 shards of 1024 x 3 x 128^2 x 4 B = 192 MiB are 4224 MiB; a step has 768 MiB for each of the first convolution's output, its ReLU and their gradients, 2305 MiB in all: 6529 + 410 of 6144 MiB; a batch of photographs is 48 MiB"
# ///
"""Classifies leaf diseases; all photographs are decoded to float and put on the GPU before training."""

import torch
from torch import nn

SIZE, SHARD, SHARDS, BATCH = 128, 1024, 22, 256


class LeafData:
    def __init__(self, device):
        self.images, self.labels = [], []
        for shard in range(SHARDS):
            photos = torch.full((SHARD, 3, SIZE, SIZE), shard, dtype=torch.uint8)
            self.images.append(photos.to(device).float().div_(255))
            self.labels.append(torch.randint(0, 12, (SHARD,), device=device))

    def batches(self):
        for images, labels in zip(self.images, self.labels):
            yield from zip(images.split(BATCH), labels.split(BATCH))


class LeafNet(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, width, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        )  # fmt: skip
        self.head = nn.Linear(2 * width, 12)

    def forward(self, x):
        return self.head(self.body(x))


leaves = LeafData("cuda")
net = LeafNet().cuda()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
for step, (images, labels) in enumerate(leaves.batches()):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(images), labels)
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, loss.item())
