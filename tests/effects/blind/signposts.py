# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# why = "v1.txt changes in the home folder behind three links, v2.txt and nowhere.txt are new; links are counted in no stated way"
# ///
"""Follows chains of links, writes through a dangling one, and turns them."""

import os
import pathlib
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


home = os.path.realpath(pathlib.Path.home())
expect("path", os.path.realpath("best"), f"{home}/models/v1.txt")
with open("best", "a") as file:
    file.write("more\n")
expect("in the home folder", open(f"{home}/models/v1.txt").read(), "v1\nmore\n")
expect("dangling", (os.path.lexists("dangling"), os.path.exists("dangling")), (True, False))
with open("dangling", "w") as file:
    file.write("found\n")
expect("through it", (open("nowhere.txt").read(), os.path.islink("dangling")), ("found\n", True))
for step in range(3):
    train_step()
with open("models/v2.txt", "w") as file:
    file.write("v2\n")
os.unlink("current")
os.symlink("models/v2.txt", "current")
expect("turned", (open("best").read(), os.readlink("current")), ("v2\n", "models/v2.txt"))
try:
    open("best", "x")
    expect("a new file at a link", "made", "refused")
except FileExistsError:
    pass
try:
    os.open("best", os.O_RDONLY | os.O_NOFOLLOW)
    expect("a link, not followed", "opened", "refused")
except OSError:
    pass
os.unlink("models")
os.mkdir("models")
expect("a folder in place of a link", (os.path.exists("best"), os.path.exists(f"{home}/models/v2.txt")), (False, True))
print("SEEN AS REAL", flush=True)
