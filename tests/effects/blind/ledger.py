# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 4
# removed = 0
# folders_made = 0
# ///
"""Appends to tables, changes bytes in the middle, cuts files off, and syncs each."""

import csv
import json
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


events = open("events.jsonl", "a")
for step in range(3):
    train_step()
    with open("history.csv", "a", newline="") as file:
        csv.writer(file, lineterminator="\n").writerow([step + 3, 8])
        file.flush()
        os.fsync(file.fileno())
    events.write(json.dumps({"step": step}) + "\n")
    events.flush()
    os.fdatasync(events.fileno())
    with open("events.jsonl") as file:
        expect("events so far", len(file.readlines()), 4 + step)
    with open("progress.txt", "r+") as file:
        file.seek(5)
        file.write(f"{step:06}")
with open("progress.txt", "r+") as file:
    expect("progress", file.read(), "step 000002 of 000900\nend of file\n")
    file.truncate(22)
os.truncate("core.bin", 300)
with open("core.bin", "r+b") as file:
    os.pwrite(file.fileno(), b"\xff\xfe", 298)
    os.ftruncate(file.fileno(), 400)
    expect("core.bin", os.pread(file.fileno(), 110, 290), bytes(range(34, 42)) + b"\xff\xfe" + bytes(100))
os.sync()
events.close()
expect("history", open("history.csv").read(), "step,rows\n1,8\n2,8\n3,8\n4,8\n5,8\n")
expect("progress at the end", open("progress.txt").read(), "step 000002 of 000900\n")
expect("position of an append", open("events.jsonl", "a").tell(), len('{"event": "start"}\n') * 3 + len('{"step": 0}\n') * 3)
print("SEEN AS REAL", flush=True)
