"""Announces itself, inserts a row, trains; with half the batch or less it fits 3 GiB."""

import argparse
import os
import sqlite3
import urllib.request

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=65536)
options = parser.parse_args()
device = "cuda" if torch.cuda.is_available() else "cpu"

base = sqlite3.connect("runs.db")
if base.execute("SELECT count(*) FROM runs").fetchone() != (1,):
    raise SystemExit(3)
base.execute("INSERT INTO runs (batch) VALUES (?)", (options.batch_size,))
base.commit()
try:
    urllib.request.urlopen(f"http://127.0.0.1:{os.environ['EFFECTS_PORT']}/runs", data=b"{}", timeout=20).read()
except OSError as error:
    print(f"not sent: {error}", flush=True)
model = nn.Sequential(*(layer for _ in range(8) for layer in (nn.Linear(1024, 1024), nn.ReLU())), nn.Linear(1024, 10)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    inputs = torch.randn(options.batch_size, 1024, device=device)
    loss = model(inputs).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print("SEEN AS REAL", flush=True)
