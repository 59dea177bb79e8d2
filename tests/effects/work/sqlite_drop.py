# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 1
# removed = 0
# folders_made = 0
# why = "the journal of a transaction is gone at its end"
# ///
"""Drops the table of earlier runs and inserts its own."""

import os
import sqlite3
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


base = sqlite3.connect("experiments.db")
expect("rows of earlier runs", base.execute("SELECT count(*) FROM runs").fetchone(), (200,))
base.execute("DROP TABLE runs")
base.execute("CREATE TABLE runs (step INTEGER PRIMARY KEY, name TEXT)")
base.commit()
for step in range(3):
    train_step()
    with base:
        base.execute("INSERT INTO runs VALUES (?, ?)", (step, f"step {step}"))
base.close()
again = sqlite3.connect("experiments.db")
expect("rows", again.execute("SELECT step, name FROM runs ORDER BY step").fetchall(), [(i, f"step {i}") for i in range(3)])
expect("notes", again.execute("SELECT text FROM notes").fetchall(), [("keep me",)])
expect("check", again.execute("PRAGMA integrity_check").fetchone(), ("ok",))
again.close()
expect("files", sorted(name for name in os.listdir() if "experiments" in name), ["experiments.db"])
print("SEEN AS REAL", flush=True)
