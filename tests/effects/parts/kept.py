"""Overwrites, removes and makes files, itself and by a shell."""

import os
import subprocess

import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Linear(1024, 1024).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    model(torch.ones(8, 1024, device=device)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
with open("metrics.csv", "w") as file:
    file.write("overwritten\n")
os.remove("old.txt")
subprocess.run("rm -rf results && mkdir results && echo b > results/b.txt", shell=True, check=True)
print("SEEN AS REAL", flush=True)
