# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# cause = "data-on-device"
# no_finding = ["dataset-on-gpu"]
# why = "60000 images are kept as bytes, 60000 x 12288 B = 703 MiB, and a batch becomes float when it is used: 703 + 1930 MiB for a step; as floats the images would be 2812 MiB and the sum over the 3686"
# ///
"""Trains an MLP on small images that are on the GPU as bytes."""

import torch
from torch import nn

IMAGES, BATCH = 60_000, 2048


class GpuDataset:
    def __init__(self, images):
        self.images = torch.empty(images, 3, 64, 64, dtype=torch.uint8, device="cuda")
        self.labels = torch.randint(0, 200, (images,), device="cuda")
        for start in range(0, images, 10_000):
            self.images[start:start + 10_000] = self.decode(10_000)

    def decode(self, count):
        return torch.zeros(count, 3, 64, 64, dtype=torch.uint8)

    def batches(self):
        order = torch.randperm(len(self.labels), device="cuda")
        for index in order.split(BATCH):
            yield self.images[index].float().div_(255), self.labels[index]


def classifier():
    layers, width = [nn.Flatten()], 3 * 64 * 64
    for _ in range(8):
        layers += [nn.Linear(width, 4096), nn.GELU()]
        width = 4096
    return nn.Sequential(*layers, nn.Linear(width, 200))


model = classifier().cuda()
dataset = GpuDataset(IMAGES)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step, (images, labels) in enumerate(dataset.batches()):
    loss = nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 4:
        break
print(loss.item())
