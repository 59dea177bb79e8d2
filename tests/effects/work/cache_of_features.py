# /// expect
# run = "check"
# vram = "4GiB"
# verdict = ["does not fit"]
# removed = 0
# reaches_gib = 8
# why = "each of two runs must find the cache as it was before oomph: with labels, without features"
# ///
"""Computes a cache if there is none, reads it the second time, then asks for more memory than there is."""

import os
import sys

import numpy as np
import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Linear(1024, 1024).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)


def expect(what, found, wanted):
    """Ends the program with status 3 if it reads something else than it wrote."""
    if found != wanted:
        print(f"{what}: {found!r:.300}, not {wanted!r:.300}", file=sys.stderr, flush=True)
        raise SystemExit(3)


def train_step():
    """A step of the optimizer."""
    loss = model(torch.ones(8, 1024, device=device)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


computed = []


def load(name, compute):
    """The array of a cached file, computed if there is none."""
    path = f"cache/{name}.npy"
    if not os.path.exists(path):
        computed.append(name)
        np.save(path, compute())
    return np.load(path)


expect("cache at the start", os.listdir("cache"), ["labels.npy"])
for step in range(3):
    expect("labels", load("labels", lambda: np.zeros(1)).tolist(), list(range(100)))
    expect("features", load("features", lambda: np.arange(50) * 2).tolist(), list(range(0, 100, 2)))
    train_step()
expect("computed", computed, ["features"])
print("SEEN AS REAL", flush=True)
large = torch.empty(8 << 30, dtype=torch.uint8, device=device)
