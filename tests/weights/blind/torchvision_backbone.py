"""A detector of torchvision whose backbone alone is pretrained."""

import os

import torch
import torchvision
from figures import run, show, zero

FORMS = ("closed",)
WEIGHTS = ("*.pth",)


def make(folder):
    torch.save(zero(torchvision.models.mobilenet_v3_large()).state_dict(), os.path.join(folder, "mobilenet_v3_large-8738ca79.pth"))


def load(_source):
    model = torchvision.models.detection.fasterrcnn_mobilenet_v3_large_320_fpn(
        weights=None, weights_backbone="IMAGENET1K_V1", num_classes=3, trainable_backbone_layers=2
    ).to("cuda")
    show()
    model.backbone(torch.zeros(2, 3, 320, 320, device="cuda"))["0"].sum().backward()
    show()


run(make, load)
