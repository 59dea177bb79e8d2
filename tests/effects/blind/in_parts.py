# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# removed = 0
# folders_made = 1
# why = "checkpoint/ is overwritten, checkpoint-new/ is made; torch chooses the files"
# ///
"""Loads and saves checkpoints in parts (torch.distributed.checkpoint), over an existing one and beside it."""

import os
import sys
import warnings

import torch
import torch.distributed.checkpoint as dcp
from torch import nn

warnings.filterwarnings("ignore")
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


def load(folder):
    """The step and the small tensor of a checkpoint."""
    state = {"step": 0, "tensor": torch.zeros(8, dtype=torch.int64)}
    dcp.load(state, checkpoint_id=folder)
    return state["step"], state["tensor"].tolist()


expect("the last run", load("checkpoint"), (500, list(range(8))))
for step in (501, 502, 503):
    train_step()
    dcp.save({"step": step, "tensor": torch.full((8,), step)}, checkpoint_id="checkpoint")
    expect("this run", load("checkpoint"), (step, [step] * 8))
dcp.save({"step": 1, "tensor": torch.ones(8, dtype=torch.int64)}, checkpoint_id="checkpoint-new")
expect("beside it", load("checkpoint-new"), (1, [1] * 8))
expect("metadata", os.path.exists("checkpoint/.metadata"), True)
print("SEEN AS REAL", flush=True)
