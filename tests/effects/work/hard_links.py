# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# removed = 0
# why = "the names of one file are counted in no stated way"
# ///
"""Changes a file by one of its two names, reads it by the other, and makes a third."""

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


expect("links", os.stat("weights.bin").st_nlink, 2)
for step in range(3):
    train_step()
    with open("weights.bin", "r+b") as file:
        file.seek(step * 1000)
        file.write(bytes([200 + step]) * 1000)
    with open("weights-copy.bin", "rb") as file:
        file.seek(step * 1000)
        expect("by the other name", file.read(1000), bytes([200 + step]) * 1000)
os.link("weights-copy.bin", "weights-third.bin")
with open("weights-third.bin", "ab") as file:
    file.write(b"end")
sizes = {os.stat(name).st_size for name in ("weights.bin", "weights-copy.bin", "weights-third.bin")}
expect("sizes", sizes, {100003})
expect("one file", len({os.stat(name).st_ino for name in ("weights.bin", "weights-copy.bin", "weights-third.bin")}), 1)
expect("links", os.stat("weights.bin").st_nlink, 3)
os.unlink("weights-copy.bin")
os.link("weights.bin", "weights-copy.bin")
expect("links", os.stat("weights-copy.bin").st_nlink, 3)
print("SEEN AS REAL", flush=True)
