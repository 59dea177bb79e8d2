# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 1
# removed = 1
# why = "old.bin goes; kept.bin is removed and made again; scratch.bin has no name at the end"
# ///
"""Works with files after their names are gone."""

import os
import subprocess
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


old = open("old.bin", "r+b")
os.remove("old.bin")
expect("no name", os.path.exists("old.bin"), False)
old.seek(3)
old.write(b"NEW")
old.flush()
old.seek(0)
expect("content", old.read(9), b"oldNEWold")
expect("links", os.fstat(old.fileno()).st_nlink, 0)

kept = open("kept.bin", "rb")
os.remove("kept.bin")
with open("kept.bin", "wb") as file:
    file.write(b"another file")
expect("the old one", kept.read(), b"kept")
expect("the new one", open("kept.bin", "rb").read(), b"another file")

scratch = open("scratch.bin", "w+b")
os.unlink("scratch.bin")
for step in range(3):
    train_step()
    scratch.write(bytes([step]) * 10)
scratch.flush()
expect("by its number", open(f"/proc/self/fd/{scratch.fileno()}", "rb").read(), b"\0" * 10 + b"\1" * 10 + b"\2" * 10)
scratch.seek(0)
read = subprocess.run(["wc", "-c"], stdin=scratch, capture_output=True, text=True, check=True)
expect("in a child", read.stdout.strip(), "30")
expect("names", sorted(name for name in os.listdir() if name.endswith(".bin")), ["kept.bin"])
print("SEEN AS REAL", flush=True)
