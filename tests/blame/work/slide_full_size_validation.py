# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# cause = "evaluation"
# first_finding = ["grad-recorded-in-eval"]
# lines = [45, 46, 49]
# saves_mib = 6144
# why = "a map of 4 x 32 x 1024^2 x 4 B is 512 MiB; in eval mode, but with gradients enabled, each of 7 stages saves its convolution and its ReLU: 7168 MiB, and with the image and the mask 7.6 GiB + 0.4 of 6; without gradients three maps, 1.6 GiB"
# ///
"""Tumour segmentation: trained on crops, validated on larger tiles of the slide."""

import torch
from torch import nn
from torch.nn import functional as F

CHANNELS, CROP, TILE = 32, 256, 1024


def stage(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU())


def build():
    stages = [stage(3, CHANNELS)] + [stage(CHANNELS, CHANNELS) for _ in range(6)]
    return nn.Sequential(*stages, nn.Conv2d(CHANNELS, 2, 1)).cuda()


def crops(count, size, batch):
    for _ in range(count):
        yield torch.randn(batch, 3, size, size).cuda(), torch.randint(0, 2, (batch, size, size)).cuda()


def train_epoch(network, optimizer):
    network.train()
    for image, label in crops(3, CROP, batch=8):
        optimizer.zero_grad()
        loss = F.cross_entropy(network(image), label)
        loss.backward()
        optimizer.step()
    return loss.item()


def validate(network):
    network.eval()
    agreed, pixels = 0, 0
    for image, label in crops(2, TILE, batch=4):
        mask = network(image).argmax(dim=1)
        agreed += (mask == label).sum().item()
        pixels += label.numel()
    return agreed / pixels


network = build()
optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
for epoch in range(3):
    print(epoch, train_epoch(network, optimizer), validate(network))
