# /// expect
# run = "check"
# vram = "10GiB"
# kind = 9
# truth = "fits"
# verdict = ["fits"]
# need_gib = [2.2, 9.7]
# why = "an image takes 64 x 512 x 512 x 4 B = 64 MiB for each of two outputs and their gradients: 256 images need over 32 GiB, 64 over 8 and in backward 12, 16 about 3"
# ///
"""Calls itself with a quarter of the batch when the GPU runs out."""

import gc

import torch
from torch import nn

SIDE, CHANNELS, CLASSES, STEPS = 512, 64, 10, 40


def build():
    return nn.Sequential(
        nn.Conv2d(3, CHANNELS, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(CHANNELS, CLASSES)
    ).cuda()


def train(batch_size):
    if batch_size < 1:
        raise RuntimeError("the GPU is too small for one image")
    model = build()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    is_out = False
    try:
        for _ in range(STEPS):
            images = torch.rand(batch_size, 3, SIDE, SIDE, device="cuda")
            labels = torch.randint(CLASSES, (batch_size,), device="cuda")
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images), labels).backward()
            optimizer.step()
    except RuntimeError as error:
        if "out of memory" not in str(error):
            raise
        is_out = True
    if is_out:
        gc.collect()
        torch.cuda.empty_cache()
        return train(batch_size // 4)
    return batch_size


print("trained with", train(256))
