# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "data-on-device"
# first_finding = ["dataset-on-gpu"]
# lines = [22]
# saves_mib = 2812
# why = "60000 images of 3 x 64 x 64 x 4 B are 2812 MiB on the device; a step needs 1907 MiB (weights and gradients 2 x 643, sixteen saved tensors of 2048 x 4096 x 4 B = 32 MiB, the input 96 MiB), together 4719 of 3686 MiB"
# ///
"""Trains an MLP on small images that are put on the GPU before the first epoch."""

import torch
from torch import nn

IMAGES, BATCH = 60_000, 2048


class GpuDataset:
    def __init__(self, images):
        self.images = torch.empty(images, 3, 64, 64, device="cuda")
        self.labels = torch.randint(0, 200, (images,), device="cuda")
        for start in range(0, images, 10_000):
            self.images[start:start + 10_000] = self.decode(10_000)

    def decode(self, count):
        return torch.zeros(count, 3, 64, 64, dtype=torch.uint8)

    def batches(self):
        order = torch.randperm(len(self.labels), device="cuda")
        for index in order.split(BATCH):
            yield self.images[index], self.labels[index]


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
