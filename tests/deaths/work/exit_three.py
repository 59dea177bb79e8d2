# /// expect
# run = "run"
# vram = "4GiB"
# ends = "exit 3"
# status = 3
# line = 24
# requested_bytes = 1073741824
# says_any = [24, "layers"]
# culprit = 24
# caught = 1
# ///
"""Reserves a key-value cache for each layer; if that fails, says so in one line and exits with status 3."""

import sys

import torch

LAYERS, BATCH, HEADS, LENGTH, DIM = 12, 16, 32, 8192, 64


def make_cache():
    layers = []
    for _ in range(LAYERS):
        layers.append(torch.zeros(2, BATCH, HEADS, LENGTH, DIM, dtype=torch.float16, device="cuda"))
    return layers


def main():
    try:
        layers = make_cache()
    except torch.OutOfMemoryError:
        print("not enough GPU memory for", LAYERS, "layers", file=sys.stderr)
        sys.exit(3)
    print("serving with", len(layers), "layers")


main()
