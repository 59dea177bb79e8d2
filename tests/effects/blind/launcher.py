# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# removed = 0
# why = "compiled modules lie where this Python puts them"
# ///
"""Writes scripts and modules, makes them executable, runs and imports them."""

import importlib
import os
import stat
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


sys.dont_write_bytecode = False
sys.path.insert(0, os.getcwd())
import tools

expect("module", tools.VALUE, "old")
expect("compiled", os.path.isdir("__pycache__"), True)
with open("tools.py", "w") as file:
    file.write("VALUE = 'a new value'\n")
importlib.reload(tools)
expect("reloaded", tools.VALUE, "a new value")
try:
    subprocess.run(["./run.sh"], check=True)
    expect("a script without x", "ran", "refused")
except PermissionError:
    pass
with open("run.sh", "w") as file:
    file.write("#!/bin/sh\necho new > said.txt\ncat said.txt\n")
os.chmod("run.sh", 0o700)
expect("script", subprocess.run(["./run.sh"], capture_output=True, text=True, check=True).stdout, "new\n")
previous = os.umask(0o077)
with open("private.txt", "w") as file:
    file.write("private")
os.umask(previous)
expect("mode", stat.S_IMODE(os.stat("private.txt").st_mode), 0o600)
for step in range(3):
    train_step()
pid = os.posix_spawn("/bin/sh", ["sh", "-c", "exec ./run.sh"], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "output.txt", os.O_CREAT | os.O_WRONLY, 0o644)])
expect("status", os.waitpid(pid, 0)[1], 0)
expect("output", open("output.txt").read(), "new\n")
print("SEEN AS REAL", flush=True)
