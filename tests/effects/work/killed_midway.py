# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 2
# removed = 3
# seen = false
# why = "the second step ends with an error; until then 0.txt, 1.txt and 2.txt are gone, state.json and scores/new.txt are written"
# ///
"""Ends with an error of its own between two effects."""

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


with open("scores/new.txt", "w") as kept:
    for step in range(5):
        train_step()
        os.remove(f"scores/{step}.txt")
        with open("state.json", "w") as file:
            file.write(f'{{"step": {step}}}')
        kept.write(f"{step}\n")
        if step == 2:
            raise ValueError("the loss is not finite")
