# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 1
# removed = 0
# why = "queue.txt grows; the lock file is opened for reading and locked"
# ///
"""Locks between a parent and a child: flock on one file, lockf on another."""

import fcntl
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


CHILD = """
import fcntl, sys
for name, mode, lock in (("train.lock", "r", fcntl.flock), ("queue.txt", "r+", fcntl.lockf)):
    with open(name, mode) as file:
        try:
            lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            print("free")
        except BlockingIOError:
            print("locked")
if sys.argv[1:] == ["append"]:
    with open("queue.txt", "a") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        file.write("job of the child\\n")
"""


def ask_child(*words):
    """The states of both locks, as a child finds them."""
    return subprocess.run([sys.executable, "-c", CHILD, *words], capture_output=True, text=True, check=True).stdout.split()


with open("train.lock") as whole, open("queue.txt", "r+") as queue:
    fcntl.flock(whole, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.lockf(queue, fcntl.LOCK_EX | fcntl.LOCK_NB)
    expect("both held", ask_child(), ["locked", "locked"])
    train_step()
    queue.seek(0, 2)
    queue.write("job 2\n")
    queue.flush()
    fcntl.lockf(queue, fcntl.LOCK_UN)
    expect("one held", ask_child("append"), ["locked", "free"])
    train_step()
    fcntl.flock(whole, fcntl.LOCK_UN)
    expect("none held", ask_child(), ["free", "free"])
train_step()
with open("queue.txt") as file:
    expect("queue", file.read().splitlines(), ["job 1", "job 2", "job of the child"])
print("SEEN AS REAL", flush=True)
