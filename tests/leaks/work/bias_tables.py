# /// expect
# run = "check"
# vram = "4GiB"
# truth = "fits"
# verdict = ["fits", "fits so far"]
# grows = false
# why = "the first 14 of 160 requests each build a table of 10 x 1024 x 1024 x 4 B = 40 MiB: 0.55 GiB, and no later request builds any"
# ///
"""A translation service that builds a table of position biases on the first request of each language pair."""

import itertools

import torch

HEADS, LENGTH, WIDTH, PAIRS, REQUESTS = 10, 1024, 640, 14, 160


class Biases(dict):
    def __missing__(self, pair):
        distance = torch.arange(LENGTH, device="cuda")
        distance = (distance[:, None] - distance).abs()
        self[pair] = torch.exp(-distance / (pair + 1.0)).repeat(HEADS, 1, 1)
        return self[pair]


def translate(biases, pair):
    x = torch.randn(HEADS, LENGTH, WIDTH // HEADS, device="cuda")
    return ((x @ x.transpose(1, 2) + biases[pair]).softmax(-1) @ x).mean().item()


biases = Biases()
qualities = [translate(biases, pair) for pair in itertools.islice(itertools.cycle(range(PAIRS)), REQUESTS)]
print("mean quality", sum(qualities) / len(qualities))
