# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 6
# removed = 0
# folders_made = 0
# folders_removed = 0
# ///
"""Overwrites whatever the last run left: tables, JSON, pickles, arrays; appends to its log."""

import csv
import json
import logging
import pickle
import sys

import numpy as np
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


handler = logging.FileHandler("train.log")
logger = logging.getLogger("train")
logger.addHandler(handler)
logger.setLevel("INFO")
with open("best.json") as file:
    best = json.load(file)["loss"]
expect("the best loss so far", best, 0.1)
with open("metrics.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["step", "rows"])
    for step in range(3):
        train_step()
        table.writerow([step, 8])
        logger.info("step %d", step)
with open("results.json", "w") as file:
    json.dump({"steps": 3}, file)
with open("best.json", "w") as file:
    json.dump({"loss": 0.0}, file)
with open("best.pkl", "wb") as file:
    pickle.dump({"loss": 0.0, "epoch": 0}, file)
np.savez("weights.npz", layer=np.full(10, 7))
handler.close()

with open("metrics.csv") as file:
    expect("metrics.csv", file.read(), "step,rows\n0,8\n1,8\n2,8\n")
with open("results.json") as file:
    expect("results.json", json.load(file), {"steps": 3})
with open("best.json") as file:
    expect("best.json", json.load(file), {"loss": 0.0})
with open("best.pkl", "rb") as file:
    expect("best.pkl", pickle.load(file), {"loss": 0.0, "epoch": 0})
expect("weights.npz", np.load("weights.npz")["layer"].tolist(), [7] * 10)
with open("train.log") as file:
    expect("train.log", file.read().splitlines(), ["epoch 1", "epoch 2", "step 0", "step 1", "step 2"])
print("SEEN AS REAL", flush=True)
