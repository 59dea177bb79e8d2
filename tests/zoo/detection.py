"""The detectors of torchvision: a training step each, on the losses that they compute themselves.

They are apart from the rest of vision because their shapes depend on values: matching anchors, boxes kept by NMS.
"""

import torch
from torchvision import models

from harness import main, training

PRECISIONS = ("fp32", "fp16")
CLASSES = 10

DETECTION = (
    "fasterrcnn_mobilenet_v3_large_320_fpn",
    "fasterrcnn_resnet50_fpn",
    "fcos_resnet50_fpn",
    "keypointrcnn_resnet50_fpn",
    "maskrcnn_resnet50_fpn",
    "retinanet_resnet50_fpn",
    "ssd300_vgg16",
    "ssdlite320_mobilenet_v3_large",
)


def detection(name):
    """Two images with three objects each: the model returns its own losses."""

    def build():
        model = models.get_model(name, weights=None, weights_backbone=None, num_classes=CLASSES)
        images = [torch.rand(3, 256, 256) for _ in range(2)]
        targets = [target() for _ in images]
        return model, lambda model: model(images, targets)

    return training(name, build, PRECISIONS)


def target():
    """Three objects with boxes, labels, masks and keypoints; copied from the host, as a data loader does."""
    boxes = torch.tensor([[10.0, 10, 90, 90], [40, 60, 200, 180], [100, 20, 160, 240]], device="cpu")
    keypoints = torch.tensor([[[50.0, 50, 1]] * 17] * 3, device="cpu")
    return {
        "boxes": boxes.cuda(),
        "labels": torch.tensor([1, 2, 3], device="cpu").cuda(),
        "masks": torch.ones(3, 256, 256, dtype=torch.uint8),
        "keypoints": keypoints.cuda(),
    }


if __name__ == "__main__":
    main([detection(name) for name in DETECTION])
