# /// expect
# run = "check"
# vram = "4GiB"
# truth = "does not fit"
# verdict = ["does not fit"]
# grows = false
# why = "the cache stops at 24 classes x 4096 x 2048 x 4 B = 32 MiB: 0.75 GiB; after 120 batches the distances 40,960 x 40,960 x 4 B = 6.25 GiB are refused"
# ///
"""Class prototypes are cached on first use; after the evaluation the distances of all test points are wanted at once."""

from functools import lru_cache

import torch

CLASSES, ROWS, WIDTH, BATCHES, POINTS = 24, 4096, 2048, 120, 40_960


@lru_cache(maxsize=None)
def prototypes(label):
    return torch.randn(ROWS, WIDTH, device="cuda")


def evaluate():
    hits = 0
    for batch in range(BATCHES):
        queries = torch.randn(512, WIDTH, device="cuda")
        nearest = (queries @ prototypes(batch % CLASSES).t()).argmax(1)
        hits += len(nearest)
    return hits


print("queries", evaluate())
points = torch.randn(POINTS, 64, device="cuda")
distances = points @ points.t()
print("median", distances.median().item())
