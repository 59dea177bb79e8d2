# /// expect
# run = "run"
# vram = "4GiB"
# ends = "oom"
# status = 1
# line = 33
# requested_bytes = 2113929216
# says_any = ["torch.cat", "self.cache", "grow", 33]
# culprit = 33
# ///
"""Generates text; torch.cat copies the key-value cache into one 96 MiB larger: the twentieth growth finds no room for both."""

from collections.abc import Iterator

import torch

LAYERS, BATCH, HEADS, DIM, CHUNK = 24, 8, 16, 64, 128


def keys_and_values() -> torch.Tensor:
    """Returns those of the next 128 tokens."""
    return torch.zeros(LAYERS, 2, BATCH, HEADS, CHUNK, DIM, dtype=torch.float16, device="cuda")


class Generator:
    """Generates without an end, and remembers all of it."""

    def __init__(self) -> None:
        self.cache = keys_and_values()

    def extend(self) -> None:
        new = keys_and_values()
        self.cache = torch.cat([self.cache, new], dim=4)

    def lengths(self) -> Iterator[int]:
        while True:
            self.extend()
            yield self.cache.shape[4]


for length in Generator().lengths():
    print("tokens", length)
