# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# removed = 3
# folders_made = 2
# folders_removed = 2
# why = "a.tmp, old/b.tmp, old/cache/c.bin go with old and old/cache; fresh and fresh/deep come"
# ///
"""Has a script of its own clean up."""

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


expect("status", os.system("./clean.sh"), 0)
for step in range(3):
    train_step()
expect("names", sorted(name for name in os.listdir() if not name.startswith("housekeeping")), ["clean.sh", "fresh", "kept.txt", "newest"])
with open("newest") as file:
    expect("list", file.read(), "1\n2\n3\n")
with open("fresh/deep/list", "a") as file:
    file.write("4\n")
tail = subprocess.Popen(["tail", "-n", "1", "newest"], stdout=subprocess.PIPE, text=True)
expect("tail", tail.communicate()[0], "4\n")
expect("an empty file", os.stat("fresh/stamp").st_size, 0)
expect("status of a missing file", os.system("test -e old"), 256)
print("SEEN AS REAL", flush=True)
