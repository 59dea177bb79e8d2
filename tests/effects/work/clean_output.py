# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 3
# removed = 3
# why = "two checkpoints and a log vanish with output/, ckpt-0, ckpt-1 and ckpt-2 are new"
# ///
"""Empties its output folder before it trains, as many examples do."""

import os
import shutil
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


expect("old files", sorted(os.listdir("output")), ["ckpt-100.pt", "ckpt-200.pt", "logs"])
shutil.rmtree("output")
expect("the folder is gone", os.path.exists("output"), False)
os.makedirs("output", exist_ok=False)
for step in range(3):
    train_step()
    torch.save({"step": step, "model": model.state_dict()}, f"output/ckpt-{step}.pt")
expect("new files", sorted(os.listdir("output")), ["ckpt-0.pt", "ckpt-1.pt", "ckpt-2.pt"])
for step in range(3):
    saved = torch.load(f"output/ckpt-{step}.pt", map_location="cpu")
    expect("step", saved["step"], step)
    expect("shape", tuple(saved["model"]["weight"].shape), (1024, 1024))
print("SEEN AS REAL", flush=True)
