# /// expect
# run = "run"
# vram = "4GiB"
# ends = "ok"
# status = 0
# line = 21
# requested_bytes = 6442450944
# says_any = [21, "images"]
# caught = 1
# steps = 5
# ///
"""Tries its favourite batch size once, runs out, trains with a quarter of it and ends normally."""

import contextlib

import torch
from torch import nn


def make_images(count):
    return torch.zeros(count, 3, 1024, 512, device="cuda")


def fits(count):
    with contextlib.suppress(RuntimeError):
        make_images(count)
        return True
    return False


count = 1024 if fits(1024) else 256
torch.cuda.empty_cache()
print("training with", count)
pool = nn.AdaptiveAvgPool2d(4)
classifier = nn.Linear(48, 5, device="cuda")
optimizer = torch.optim.Adam(classifier.parameters())
images = make_images(count)
for _ in range(5):
    output = classifier(pool(images).flatten(1))
    optimizer.zero_grad()
    output.logsumexp(dim=1).sum().backward()
    optimizer.step()
print("done")
