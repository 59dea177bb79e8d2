# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 1
# removed = 0
# ///
"""Goes on from a checkpoint, if present, writes newer checkpoints over the file, and goes on from the newer checkpoints."""

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


def resume():
    """The next step."""
    if not os.path.exists("ckpt.pt"):
        return 0
    saved = torch.load("ckpt.pt", map_location=device)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    return saved["step"] + 1


first = resume()
expect("first step", first, 8)
for step in range(first, first + 3):
    train_step()
    torch.save({"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, "ckpt.pt")
    expect("resumed", resume(), step + 1)
print("SEEN AS REAL", flush=True)
