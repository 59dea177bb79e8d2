"""Trains a segmentation model, a video model or a detector of torchvision, in three steps."""

import argparse

import torch
import torchvision
from torch.nn.functional import cross_entropy
from torchvision.models import detection, segmentation, video

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("task", choices=["segmentation", "video", "detection"])
parser.add_argument("model")
parser.add_argument("--batch", type=int, default=4)
args = parser.parse_args()


def segment(model):
    """Every pixel is classified."""
    images = torch.randn(args.batch, 3, 384, 384, device="cuda")
    labels = torch.randint(0, 21, (args.batch, 384, 384), device="cuda")
    return cross_entropy(model(images)["out"], labels)


def watch(model):
    """Sixteen frames are one example."""
    clips = torch.randn(args.batch, 3, 16, 112, 112, device="cuda")
    return cross_entropy(model(clips), torch.randint(0, 400, (args.batch,), device="cuda"))


def detect(model):
    """Four boxes on each image."""
    images = [torch.rand(3, 480, 640, device="cuda") for _ in range(args.batch)]
    corner = torch.rand(4, 2) * 200
    boxes = torch.cat([corner, corner + 100], 1).cuda()
    targets = [{"boxes": boxes, "labels": torch.ones(4, dtype=torch.int64, device="cuda")} for _ in images]
    return sum(model(images, targets).values())


make, loss_of = {
    "segmentation": (lambda: segmentation.__dict__[args.model](weights=None, weights_backbone=None), segment),
    "video": (lambda: video.__dict__[args.model](weights=None), watch),
    "detection": (lambda: detection.__dict__[args.model](weights=None, weights_backbone=None), detect),
}[args.task]
model = make().cuda().train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for _ in range(3):
    optimizer.zero_grad()
    loss_of(model).backward()
    optimizer.step()
