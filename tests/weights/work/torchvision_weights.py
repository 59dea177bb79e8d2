"""`weights=` of torchvision, with a new last layer."""

import os

import torch
import torchvision
from figures import run, show, zero

FORMS = ("closed",)
WEIGHTS = ("*.pth",)


def make(folder):
    torch.save(zero(torchvision.models.resnet18()).state_dict(), os.path.join(folder, "resnet18-f37072fd.pth"))


def load(_source):
    model = torchvision.models.resnet18(weights=torchvision.models.ResNet18_Weights.DEFAULT)
    model.fc = torch.nn.Linear(model.fc.in_features, 10)
    model.to("cuda")
    show()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model(torch.zeros(4, 3, 224, 224, device="cuda")).sum().backward()
    optimizer.step()
    show()


run(make, load)
