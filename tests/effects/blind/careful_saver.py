# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 2
# removed = 0
# why = "model.pt and model.pt.bak; temporary files are renamed"
# ///
"""Saves into a temporary file beside the checkpoint, keeps the former one as .bak, and syncs file and folder."""

import os
import sys
import tempfile

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


def save(step):
    """Replaces the checkpoint, with a copy of the former one left."""
    with tempfile.NamedTemporaryFile(dir=".", prefix="model-", suffix=".tmp", delete=False) as file:
        torch.save({"step": step, "model": model.state_dict()}, file)
        file.flush()
        os.fsync(file.fileno())
    os.rename("model.pt", "model.pt.bak")
    os.rename(file.name, "model.pt")
    folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(folder)
    os.close(folder)


former = torch.load("model.pt")
expect("former", (former["step"], former["values"].tolist()), (900, list(range(10))))
expect("the one before", torch.load("model.pt.bak"), {"step": 800})
wanted = 900
for step in (901, 902, 903):
    train_step()
    save(step)
    expect("new", torch.load("model.pt", map_location="cpu")["step"], step)
    expect("former", torch.load("model.pt.bak", map_location="cpu")["step"], wanted)
    wanted = step
expect("names", sorted(name for name in os.listdir() if name.startswith("model")), ["model.pt", "model.pt.bak"])
print("SEEN AS REAL", flush=True)
