"""Convolutions, whose workspaces do not grow evenly with the batch."""

import argparse

import torch
import torchvision
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("-b", "--batch-size", type=int, default=4)
args = parser.parse_args()

with torch.device("cuda"):
    model = torchvision.models.resnet18(num_classes=10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for _ in range(3):
    images = torch.randn(args.batch_size, 3, 160, 160, device="cuda")
    labels = torch.randint(10, (args.batch_size,), device="cuda")
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(images), labels).backward()
    optimizer.step()
