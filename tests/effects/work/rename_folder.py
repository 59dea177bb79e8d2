# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# why = "a folder of the last run gets another name, and a new one takes its place; the counts of a moved folder are not stated"
# ///
"""Moves the folder of the last run out of the way."""

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


os.rename("runs/exp", "runs/exp_old")
expect("names", os.listdir("runs"), ["exp_old"])
os.makedirs("runs/exp")
for step in range(3):
    train_step()
    with open("runs/exp/steps.txt", "a") as file:
        file.write(f"{step}\n")
with open("runs/exp_old/model.pt", "rb") as file:
    expect("moved", file.read(), b"weights" * 10000)
with open("runs/exp_old/logs/1.log", "a") as file:
    file.write("moved\n")
with open("runs/exp_old/logs/1.log") as file:
    expect("log", file.read(), "log\nmoved\n")
expect("new", (os.listdir("runs/exp"), open("runs/exp/steps.txt").read()), (["steps.txt"], "0\n1\n2\n"))
os.rename("runs/exp_old", "archive")
expect("moved again", (sorted(os.listdir("archive")), os.listdir("runs")), (["logs", "model.pt"], ["exp"]))
print("SEEN AS REAL", flush=True)
