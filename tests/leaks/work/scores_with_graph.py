# /// expect
# run = "check"
# vram = "6GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = true
# loop = [29]
# keeps_mib = 112
# allocates = [30, 23]
# full_at = [48, 52]
# why = "no_grad is missing: each kept output of 16 MiB keeps its graph, 8192 x 1024 x 4 B = 32 MiB of inputs and 8192 x 2048 x 4 B = 64 MiB of hidden values; 80 batches"
# ///
"""Evaluation of a classifier of sensor readings: scores of all batches are collected and joined at the end."""

import torch
from torch import nn

ROWS, FEATURES, HIDDEN, CLASSES, BATCHES = 8192, 1024, 2048, 512, 80


def readings(count):
    for _ in range(count):
        yield torch.randn(ROWS, FEATURES, device="cuda")


def evaluate(model, batches):
    model.eval()
    scores = []
    for x in batches:
        scores.append(model(x))
    return torch.cat(scores)


def main():
    model = nn.Sequential(nn.Linear(FEATURES, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, CLASSES)).cuda()
    scores = evaluate(model, readings(BATCHES))
    print("mean of the largest score", scores.max(1).values.mean().item())


if __name__ == "__main__":
    main()
