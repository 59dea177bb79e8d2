# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 3
# folders_made = 1
# needs = ["g++"]
# why = "build/ with the source, which changes, and two libraries"
# ///
"""Builds C++ functions into a separate folder and loads the libraries, once more after a change."""

import ctypes
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


def build(number):
    """A library with a function for the sum of an argument and `number`."""
    with open("build/add.cpp", "w") as file:
        file.write(f'extern "C" int add(int a) {{ return a + {number}; }}\n')
    name = os.path.abspath(f"build/add{number}.so")
    subprocess.run(["g++", "-shared", "-fPIC", "-O1", "-o", name, "build/add.cpp"], check=True)
    return ctypes.CDLL(name)


os.mkdir("build")
expect("sum", build(3).add(2), 5)
for step in range(3):
    train_step()
expect("changed sum", build(10).add(2), 12)
expect("names", sorted(os.listdir("build")), ["add.cpp", "add10.so", "add3.so"])
print("SEEN AS REAL", flush=True)
