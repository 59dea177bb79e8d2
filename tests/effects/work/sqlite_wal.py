# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 1
# removed = 0
# why = "the -wal and -shm files vanish with the last connection"
# ///
"""A study in sqlite with a write-ahead log: two connections, and a third in another process."""

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


COUNT = "SELECT count(*) FROM trials"
IN_CHILD = f"import sqlite3; print(sqlite3.connect('study.db').execute('{COUNT}').fetchone()[0])"
writer, reader = sqlite3.connect("study.db"), sqlite3.connect("study.db")
expect("mode", writer.execute("PRAGMA journal_mode").fetchone(), ("wal",))
expect("trials of earlier runs", reader.execute(COUNT).fetchone(), (20,))
for step in range(3):
    train_step()
    writer.execute("INSERT INTO trials (state) VALUES ('running')")
    expect("unseen before the commit", reader.execute(COUNT).fetchone(), (20 + step,))
    writer.commit()
    expect("seen after the commit", reader.execute(COUNT).fetchone(), (21 + step,))
    child = subprocess.run([sys.executable, "-c", IN_CHILD], capture_output=True, text=True, check=True)
    expect("seen by a child", int(child.stdout), 21 + step)
expect("log", os.path.exists("study.db-wal") and os.path.exists("study.db-shm"), True)
reader.close()
writer.close()
expect("files", sorted(name for name in os.listdir() if name.startswith("study")), ["study.db"])
print("SEEN AS REAL", flush=True)
