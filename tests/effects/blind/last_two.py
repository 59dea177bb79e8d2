# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 4
# removed = 6
# folders_made = 2
# folders_removed = 3
# open_functions = "4 folders called removed, of 3"
# why = "two files in each of checkpoint-301 to 303; 302 and 303 are left, and the three old folders go"
# ///
"""Resumes from the newest checkpoint folder, saves three more, and keeps the last two, as transformers does."""

import glob
import json
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


def folders():
    """The checkpoints by step."""
    return sorted(glob.glob("out/checkpoint-*"), key=lambda path: int(path.rsplit("-", 1)[1]))


newest = folders()[-1]
with open(f"{newest}/state.json") as file:
    first = json.load(file)["step"]
expect("step", first, 300)
expect("weights of the last run", torch.load(f"{newest}/model.bin")["weight"].tolist(), [300.0] * 4)
for step in range(first + 1, first + 4):
    train_step()
    os.mkdir(f"out/tmp-checkpoint-{step}")
    torch.save(model.state_dict(), f"out/tmp-checkpoint-{step}/model.bin")
    with open(f"out/tmp-checkpoint-{step}/state.json", "w") as file:
        json.dump({"step": step}, file)
    os.rename(f"out/tmp-checkpoint-{step}", f"out/checkpoint-{step}")
    for folder in folders()[:-2]:
        shutil.rmtree(folder)
    expect("kept", [int(path.rsplit("-", 1)[1]) for path in folders()][-1], step)
expect("at the end", folders(), ["out/checkpoint-302", "out/checkpoint-303"])
with open(f"{folders()[0]}/state.json") as file:
    expect("state", json.load(file), {"step": 302})
expect("weights", tuple(torch.load("out/checkpoint-303/model.bin", map_location="cpu")["weight"].shape), (1024, 1024))
print("SEEN AS REAL", flush=True)
