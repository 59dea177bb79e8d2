# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = false
# why = "the first cloud's scores are 2 x 32,768 x 32,768 x 4 B = 8 GiB"
# ///
"""Attention among all points of a cloud, for a list of clouds; the descriptors are collected."""

import torch

HEADS, POINTS, WIDTH, CLOUDS = 2, 32_768, 64, 50


def describe(points):
    scores = points @ points.transpose(1, 2) * WIDTH**-0.5
    return (scores.softmax(-1) @ points).amax(1)


descriptors = []
with torch.no_grad():
    for _ in range(CLOUDS):
        descriptors.append(describe(torch.randn(HEADS, POINTS, WIDTH, device="cuda")))
print("descriptors", len(descriptors))
