# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 2
# removed = 0
# folders_made = 1
# memory_gib = 10
# why = "checkpoints of 2 GiB of steps 2 and 3 are kept of four"
# ///
"""Saves 2 GiB of zeros at each step and keeps the last two checkpoints."""

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


table = torch.zeros(512, 1 << 20, device=device)
os.makedirs("checkpoints", exist_ok=False)
for step in range(4):
    train_step()
    torch.save({"step": step, "table": table}, f"checkpoints/{step}.pt")
    expect("size", os.path.getsize(f"checkpoints/{step}.pt") >> 31, 1)
    if step >= 2:
        os.remove(f"checkpoints/{step - 2}.pt")
expect("kept", sorted(os.listdir("checkpoints")), ["2.pt", "3.pt"])
saved = torch.load("checkpoints/3.pt", map_location="cpu", mmap=True)
expect("step", saved["step"], 3)
expect("shape", tuple(saved["table"].shape), (512, 1 << 20))
print("SEEN AS REAL", flush=True)
