"""The torchvision part of the zoo: one training step of each architecture, on small inputs, with cuDNN on."""

import torch
from torchvision import models

from harness import main, training

PRECISIONS = ("fp32", "fp16")
CLASSES = 10

# Architecture: side of its square images. With `image_size`, the model is built for that size.
CLASSIFICATION = {
    "alexnet": 64,
    "convnext_tiny": 64,
    "densenet121": 64,
    "densenet169": 64,
    "efficientnet_b0": 64,
    "efficientnet_b1": 64,
    "efficientnet_v2_s": 64,
    "googlenet": 64,
    "inception_v3": 299,
    "maxvit_t": 224,
    "mnasnet0_5": 64,
    "mnasnet1_0": 64,
    "mobilenet_v2": 64,
    "mobilenet_v3_large": 64,
    "mobilenet_v3_small": 64,
    "regnet_x_400mf": 64,
    "regnet_x_800mf": 64,
    "regnet_y_400mf": 64,
    "regnet_y_800mf": 64,
    "resnet18": 64,
    "resnet34": 64,
    "resnet50": 64,
    "resnet101": 64,
    "resnext50_32x4d": 64,
    "shufflenet_v2_x0_5": 64,
    "shufflenet_v2_x1_0": 64,
    "squeezenet1_0": 64,
    "squeezenet1_1": 64,
    "swin_s": 64,
    "swin_t": 64,
    "swin_v2_t": 64,
    "vgg11": 64,
    "vgg13_bn": 64,
    "vgg16": 64,
    "vit_b_16": 64,
    "vit_b_32": 64,
    "wide_resnet50_2": 64,
}
SEGMENTATION = ("deeplabv3_mobilenet_v3_large", "deeplabv3_resnet50", "fcn_resnet50", "lraspp_mobilenet_v3_large")
# Architecture: frames and side of its clips.
VIDEO = {
    "mc3_18": (4, 32),
    "mvit_v2_s": (16, 224),
    "r2plus1d_18": (4, 32),
    "r3d_18": (4, 32),
    "s3d": (16, 224),
    "swin3d_t": (8, 64),
}
OPTICAL_FLOW = ("raft_large", "raft_small")


def classification(name, side):
    """Cross-entropy over a batch of two images."""

    def build():
        sized = {"image_size": side} if name.startswith("vit_") else {}
        if name in ("googlenet", "inception_v3"):
            sized["init_weights"] = False
        model = models.get_model(name, weights=None, num_classes=CLASSES, **sized)
        images = torch.randn(2, 3, side, side)
        return model, lambda model: model(images)

    return training(name, build, PRECISIONS)


def segmentation(name):
    """A class for each pixel, with the auxiliary head if the model has one."""

    def build():
        model = models.get_model(name, weights=None, weights_backbone=None, num_classes=CLASSES)
        images = torch.randn(2, 3, 128, 128)
        return model, lambda model: model(images)

    return training(name, build, PRECISIONS)


def video(name, frames, side):
    """A class for each clip."""

    def build():
        model = models.get_model(name, weights=None, num_classes=CLASSES)
        clips = torch.randn(1, 3, frames, side, side)
        return model, lambda model: model(clips)

    return training(name, build, PRECISIONS)


def optical_flow(name):
    """Four refinements of the flow between two frames."""

    def build():
        model = models.get_model(name, weights=None)
        first, second = torch.randn(2, 1, 3, 128, 128)
        return model, lambda model: model(first, second, num_flow_updates=4)

    return training(name, build, PRECISIONS)


def programs():
    """Every program of this file."""
    yield from (classification(name, side) for name, side in CLASSIFICATION.items())
    yield from (segmentation(name) for name in SEGMENTATION)
    yield from (video(name, *shape) for name, shape in VIDEO.items())
    yield from (optical_flow(name) for name in OPTICAL_FLOW)


if __name__ == "__main__":
    main(list(programs()))
