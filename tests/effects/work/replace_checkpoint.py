# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# removed = 0
# folders_made = 0
# why = "model.pt is overwritten, then replaced; step files are new; only the target of a link changes"
# ///
"""Writes a checkpoint in place, then by a temporary file and a rename, and turns the link `latest.pt`."""

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


expect("the model of the last run", torch.load("model.pt"), {"step": 5000, "note": "trained"})
expect("the link of the last run", torch.load("latest.pt")["step"], 4000)
torch.save({"step": 0, "model": model.state_dict()}, "model.pt")
expect("overwritten", torch.load("model.pt", map_location="cpu")["step"], 0)
for step in range(1, 4):
    train_step()
    torch.save({"step": step, "model": model.state_dict()}, "model.pt.part")
    os.replace("model.pt.part", "model.pt")
    torch.save({"step": step}, f"model-{step}.pt")
    os.symlink(f"model-{step}.pt", "latest.part")
    os.replace("latest.part", "latest.pt")
    expect("replaced", torch.load("model.pt", map_location="cpu")["step"], step)
    expect("the link", os.readlink("latest.pt"), f"model-{step}.pt")
    expect("by the link", torch.load("latest.pt")["step"], step)
expect("names", [name for name in os.listdir() if name.endswith(".part")], [])
expect("the old one", torch.load("model-4000.pt")["step"], 4000)
print("SEEN AS REAL", flush=True)
