# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# removed = 0
# connections = 2
# why = "in the home folder a blob, its lock and a ref; two requests, each with a connection of its own"
# ///
"""A cache of downloads in the home folder: blobs, links to them, a lock, and a ref that moves to the new snapshot."""

import fcntl
import os
import pathlib
import sys
import urllib.request

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


root = pathlib.Path.home() / ".cache" / "hub" / "models--tiny"
address = f"http://127.0.0.1:{os.environ['EFFECTS_PORT']}"


def fetch(name, blob):
    """The path of a file of the snapshot `two`, downloaded if it is new."""
    link = root / "snapshots" / "two" / name
    if not link.exists():
        link.parent.mkdir(parents=True, exist_ok=True)
        with open(root / f"{blob}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            part = root / "blobs" / f"{blob}.incomplete"
            with urllib.request.urlopen(f"{address}/{name}") as answer, part.open("wb") as file:
                file.write(answer.read())
            os.replace(part, root / "blobs" / blob)
        link.symlink_to(f"../../blobs/{blob}")
    return link


revision = (root / "refs" / "main").read_text()
expect("the old snapshot", (revision, (root / "snapshots" / revision / "config.json").read_text()), ("one", '{"width": 8}'))
with urllib.request.urlopen(f"{address}/refs.json") as answer:
    expect("refs", answer.read(), b'{"answer": 42}')
for _ in range(3):
    expect("file", fetch("config.json", "bbbb").read_text(), '{"answer": 42}')
    train_step()
(root / "refs" / "main").write_text("two")
expect("target", os.path.realpath(root / "snapshots" / "two" / "config.json").rsplit("/", 2)[1:], ["blobs", "bbbb"])
expect("blobs", sorted(os.listdir(root / "blobs")), ["aaaa", "bbbb"])
expect("ref", (root / "refs" / "main").read_text(), "two")
print("SEEN AS REAL", flush=True)
