# /// expect
# run = "fit"
# vram = "3GiB"
# verdict = ["fits with plan"]
# why = "with half the batch or less it fits; every run of fit must be able to make the folder, and finds the counter as it was"
# ///
"""Makes a folder (an existing folder is an error), and counts the starts."""

import argparse
import os
import sys

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=65536)
options = parser.parse_args()
device = "cuda" if torch.cuda.is_available() else "cpu"
if device == "cpu":
    options.batch_size = 16

os.makedirs("runs/exp", exist_ok=False)
starts = 1 + (int(open("runs/starts.txt").read()) if os.path.exists("runs/starts.txt") else 0)
with open("runs/starts.txt", "w") as file:
    file.write(f"{starts}\n")
if starts != 1:
    raise SystemExit(3)
model = nn.Sequential(*(layer for _ in range(8) for layer in (nn.Linear(1024, 1024), nn.ReLU())), nn.Linear(1024, 10)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    inputs = torch.randn(options.batch_size, 1024, device=device)
    loss = model(inputs).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    with open("runs/exp/steps.txt", "a") as file:
        file.write(f"{step}\n")
    if open("runs/exp/steps.txt").read() != "".join(f"{i}\n" for i in range(step + 1)):
        raise SystemExit(3)
print("SEEN AS REAL", flush=True)
