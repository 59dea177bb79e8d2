# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# folders_made = 1
# needs = ["ninja", "g++"]
# why = "ninja, the compiler and torch choose the files in build/"
# ///
"""Builds a C++ function with load_inline, and builds it again after a change."""

import os
import sys

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

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


SOURCE = "int64_t add(int64_t a, int64_t b) { return a + b + %d; }"
os.mkdir("build")
built = load_inline(name="handmade", cpp_sources=SOURCE % 0, functions="add", build_directory="build", verbose=False)
expect("sum", built.add(2, 3), 5)
expect("library", os.path.exists("build/handmade.so"), True)
for step in range(3):
    train_step()
again = load_inline(name="handmade", cpp_sources=SOURCE % 10, functions="add", build_directory="build", verbose=False)
expect("changed sum", again.add(2, 3), 15)
print("SEEN AS REAL", flush=True)
