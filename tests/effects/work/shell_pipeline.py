# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 8
# removed = 1
# folders_made = 1
# folders_removed = 0
# why = "notes.bak (and notes.txt is gone), b.txt, config.yaml, old.log, data.bin, w/1.bin, w/2.bin, unique.txt"
# ///
"""Leaves the files to the shell's tools."""

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


def shell(command):
    """Runs a command; returns its output."""
    done = subprocess.run(command, shell=True, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


train_step()
shell("mv notes.txt notes.bak")
shell("cp a.txt b.txt && cmp a.txt b.txt")
shell("sed -i 's/lr: 0.1/lr: 0.01/' config.yaml")
train_step()
shell("truncate -s 10 old.log")
shell("printf 'ABCD' | dd of=data.bin bs=1 seek=100 conv=notrunc status=none")
shell("tar xf weights.tar")
shell("sort a.txt | uniq > unique.txt")
train_step()

expect("notes", (os.path.exists("notes.txt"), open("notes.bak").read()), (False, "notes\n"))
expect("copy", open("b.txt").read(), "pear\napple\npear\nfig\n")
expect("sed", open("config.yaml").read(), "lr: 0.01\nepochs: 90\n")
expect("truncate", open("old.log").read(), "0123456789")
with open("data.bin", "rb") as file:
    expect("dd", file.read(), bytes(100) + b"ABCD" + bytes(3992))
expect("tar", open("w/2.bin", "rb").read(), b"w/2.bin" * 100)
expect("pipe", shell("cat unique.txt").split(), ["apple", "fig", "pear"])
expect("pipe, read here", open("unique.txt").read(), "apple\nfig\npear\n")
print("SEEN AS REAL", flush=True)
