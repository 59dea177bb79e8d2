# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# removed = 0
# why = "the number of files of a shelf depends on the dbm of this Python"
# ///
"""Keeps objects in a shelf and strings in a dbm."""

import dbm.dumb
import shelve
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


with shelve.open("index", writeback=True) as index:
    expect("runs of earlier days", (index["runs"], index["names"]), (12, ["a", "b"]))
    index["runs"] += 1
    index["names"].append("c")
    for step in range(3):
        train_step()
        index[f"step {step}"] = {"step": step}
    index.sync()
with shelve.open("index", flag="r") as index:
    expect("keys", sorted(index), ["names", "runs", "step 0", "step 1", "step 2"])
    expect("values", (index["runs"], index["names"], index["step 2"]), (13, ["a", "b", "c"], {"step": 2}))
with dbm.dumb.open("plain", "w") as base:
    del base["a"]
    base["c"] = "3" * 2000
with dbm.dumb.open("plain", "r") as base:
    expect("plain", {key: base[key][:1] for key in base.keys()}, {b"b": b"2", b"c": b"3"})
print("SEEN AS REAL", flush=True)
