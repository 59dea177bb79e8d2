# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 2
# removed = 3
# why = "three files of the last run, two of this one; the folder is there before and after"
# ///
"""Empties a folder by a shell."""

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


subprocess.run("rm -rf results && mkdir results", shell=True, check=True)
for step in range(3):
    train_step()
with open("results/summary.txt", "w") as file:
    file.write("three steps\n")
subprocess.run("wc -l < results/summary.txt > results/lines.txt", shell=True, check=True)
listed = subprocess.run(["ls", "results"], capture_output=True, text=True, check=True)
expect("ls", listed.stdout.split(), ["lines.txt", "summary.txt"])
with open("results/lines.txt") as file:
    expect("wc", file.read().strip(), "1")
print("SEEN AS REAL", flush=True)
