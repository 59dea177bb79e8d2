# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 2
# removed = 0
# why = "a new file of 5 GiB with one byte, and an existing one of 1 GiB that grows by 3 GiB"
# ///
"""Writes far behind the end of files."""

import os
import sys

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


for step in range(3):
    train_step()
with open("table.bin", "wb") as file:
    file.seek((5 << 30) - 1)
    file.write(b"\x07")
expect("size", os.path.getsize("table.bin"), 5 << 30)
with open("table.bin", "rb") as file:
    expect("start", file.read(4096), bytes(4096))
    file.seek(-2, 2)
    expect("end", file.read(), b"\x00\x07")
with open("index.bin", "r+b") as file:
    file.seek(4 << 30)
    file.write(b"end")
    file.seek(0)
    expect("old start", file.read(1002), b"\x01" * 1000 + b"\x00\x00")
expect("size", os.path.getsize("index.bin"), (4 << 30) + 3)
print("SEEN AS REAL", flush=True)
