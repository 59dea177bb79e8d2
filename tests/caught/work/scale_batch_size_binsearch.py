# /// expect
# run = "check"
# vram = "27GiB"
# verdict = ["fits", "fits so far"]
# search = true
# line = 31
# requested_bytes = 4294967296
# caught_line = 53
# then = "found batch 2"
# why = "Lightning's Tuner.scale_batch_size(mode=\"binsearch\"): doubles until it runs out, then halves the interval"
# ///
"""Searches the number of point clouds per step by bisection (1, 2, 4 fails, 3 fails), then trains with it."""

import gc

import torch
import torch.nn.functional as F
from torch import nn

POINTS, WIDTH, CLASSES = 131072, 2048, 16

layers = [layer for _ in range(8) for layer in (nn.Linear(WIDTH, WIDTH), nn.ReLU())]
model = nn.Sequential(*layers, nn.Linear(WIDTH, CLASSES)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)


def train_step(batch_size):
    optimizer.zero_grad()
    clouds = torch.randn(batch_size, POINTS, WIDTH, device="cuda")
    labels = torch.randint(CLASSES, (batch_size, POINTS), device="cuda")
    logits = model(clouds)
    F.cross_entropy(logits.flatten(0, 1), labels.flatten()).backward()
    optimizer.step()


def run_binsearch_scaling(new_size, max_trials=25):
    low, high, count = 1, None, 0
    while True:
        gc.collect()
        torch.cuda.empty_cache()
        try:
            train_step(new_size)
            count += 1
            if count > max_trials:
                break
            low = new_size
            if high:
                if high - low <= 1:
                    break
                new_size = (high + low) // 2
            else:
                new_size *= 2
        except RuntimeError as exception:
            if "CUDA" not in str(exception) or "out of memory" not in str(exception):
                raise
            high = new_size
            new_size = (high + low) // 2
            if high - low <= 1:
                break
    gc.collect()
    torch.cuda.empty_cache()
    return new_size


batch_size = run_binsearch_scaling(1)
print("batch size", batch_size)
for _ in range(10):
    train_step(batch_size)
