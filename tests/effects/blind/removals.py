# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# open_functions = "two folders that change places are refused, as by a file system without exchanges"
# why = "files and folders change places; the counts of moved folders are not stated"
# ///
"""Moves files and folders across folders, over each other, and out of its folder; swaps two folders in one call."""

import ctypes
import errno
import os
import shutil
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


out = os.environ["EFFECTS_OUT"]
os.rename("inbox/1.bin", "store/1.bin")
expect("over another", (open("store/1.bin").read(), os.listdir("inbox")), ("inbox/1.bin", ["2.bin"]))
shutil.move("inbox/2.bin", f"{out}/vault")
expect("out", open(f"{out}/vault/2.bin").read(), "inbox/2.bin")
os.rename(f"{out}/vault/old.bin", "inbox/old.bin")
expect("in", (os.listdir(f"{out}/vault"), os.listdir("inbox")), (["2.bin"], ["old.bin"]))
shutil.move("store/x", f"{out}/x")
expect("a folder", (open(f"{out}/x/deep.bin").read(), os.listdir("store")), ("store/x/deep.bin", ["1.bin"]))
for step in range(3):
    train_step()
try:
    os.rename("blue", "green")
    expect("a folder over a full one", "renamed", "refused")
except OSError as error:
    expect("a folder over a full one", error.errno in (errno.ENOTEMPTY, errno.EEXIST), True)
os.mkdir("empty")
os.rename("store", "empty")
expect("a folder over an empty one", os.listdir("empty"), ["1.bin"])
# RENAME_EXCHANGE of linux/fs.h; AT_FDCWD is -100.
libc = ctypes.CDLL(None, use_errno=True)
if libc.renameat2(-100, b"blue", -100, b"green", 2) == 0:
    expect("swapped", (open("blue/name.txt").read(), open("green/name.txt").read()), ("green/name.txt", "blue/name.txt"))
else:
    expect("swap", os.strerror(ctypes.get_errno()), "swapped")
# RENAME_NOREPLACE
expect("not over", (libc.renameat2(-100, b"blue", -100, b"green", 1), ctypes.get_errno()), (-1, errno.EEXIST))
print("SEEN AS REAL", flush=True)
