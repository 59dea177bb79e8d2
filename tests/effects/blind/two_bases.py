# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 2
# removed = 0
# why = "both databases change; journals go with their transactions"
# ///
"""Moves rows from one database to an attached one, deletes, adds a column, vacuums; one transaction is rolled back."""

import os
import sqlite3
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


size = os.path.getsize("main.sqlite")
base = sqlite3.connect("main.sqlite")
base.execute("ATTACH 'archive.sqlite' AS archive")
with base:
    base.execute("INSERT INTO archive.runs SELECT id + 1000, payload FROM runs WHERE id <= 10")
    base.execute("DELETE FROM runs WHERE id > 2")
base.execute("VACUUM main")
expect("smaller", os.path.getsize("main.sqlite") < size / 10, True)
base.execute("ALTER TABLE runs ADD COLUMN note TEXT DEFAULT 'none'")
base.commit()
try:
    with base:
        base.execute("DELETE FROM archive.runs")
        raise KeyError("rolled back")
except KeyError:
    pass
for step in range(3):
    train_step()
    base.execute("UPDATE runs SET note = ? WHERE id = 1", (f"step {step}",))
    base.commit()
base.close()
READ = """
import sqlite3
print(sqlite3.connect("archive.sqlite").execute("SELECT count(*) FROM runs").fetchone()[0])
print(sqlite3.connect("main.sqlite").execute("SELECT id, note FROM runs ORDER BY id").fetchall())
"""
child = subprocess.run([sys.executable, "-c", READ], capture_output=True, text=True, check=True)
expect("in a child", child.stdout.splitlines(), ["11", "[(1, 'step 2'), (2, 'none')]"])
expect("files", sorted(name for name in os.listdir() if "sqlite" in name), ["archive.sqlite", "main.sqlite"])
print("SEEN AS REAL", flush=True)
