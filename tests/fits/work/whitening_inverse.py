# /// expect
# run = "check"
# vram = "5GiB"
# kind = 10
# truth = "does not fit"
# verdict = ["does not fit"]
# lines = [34, 35, 36]
# need_gib = [12, 22]
# why = "NumPy inverts the covariance of the features, then all 131,072 pairs of 8192 x 4 B are whitened at once: 4 GiB, beside the 4 GiB that they are made from, and 4 GiB more for the product"
# ///
"""Whitens features by the inverse covariance, taken with NumPy on the host, before it trains a metric on them."""

import numpy as np
import torch
from torch import nn

ROWS, WIDTH, BLOCK, STEPS = 131_072, 8192, 64, 50


def inverse_covariance(sample):
    centred = sample - sample.mean(0)
    covariance = (centred.t() @ centred / len(sample)).cpu().numpy()
    return torch.from_numpy(np.linalg.inv(covariance)).cuda()


def features(rows):
    return torch.randn(rows, WIDTH // BLOCK, BLOCK, device="cuda")


inverse = inverse_covariance(features(1024)[:, 0])
scale = nn.Parameter(torch.ones(BLOCK, device="cuda"))
optimizer = torch.optim.SGD([scale], lr=0.01)
for step in range(STEPS):
    pairs = features(ROWS)
    whitened = pairs @ inverse
    loss = (whitened * scale).mean().square()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
