# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# removed = 0
# wait = 4
# why = "a process that outlives the program writes one second later, which may be too late for any number"
# ///
"""Starts a daemon that writes after the program's end."""

import os
import sys
import time

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


with open("status.txt", "w") as file:
    file.write("training\n")
reader, writer = os.pipe()
child = os.fork()
if child == 0:
    os.setsid()
    if os.fork() > 0:
        os._exit(0)
    os.close(reader)
    with open("daemon.log", "w") as file:
        file.write(f"started, {open('status.txt').read()}")
    os.write(writer, b"x")
    os.close(writer)
    null = os.open("/dev/null", os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    time.sleep(1)
    with open("status.txt", "a") as file:
        file.write("written by the daemon\n")
    with open("late.txt", "w") as file:
        file.write("late\n")
    with open(os.path.expanduser("~/late.txt"), "w") as file:
        file.write("late\n")
    os._exit(0)
os.waitpid(child, 0)
os.close(writer)
expect("sign", os.read(reader, 1), b"x")
for step in range(3):
    train_step()
expect("log", open("daemon.log").read(), "started, training\n")
print("SEEN AS REAL", flush=True)
