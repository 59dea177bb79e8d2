"""Fetches and unpacks an archive where it is not there yet, trains; with half the batch or less it fits 3 GiB."""

import argparse
import os
import sys
import urllib.request
import zipfile

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=65536)
options = parser.parse_args()
device = "cuda" if torch.cuda.is_available() else "cpu"

model = nn.Sequential(*(layer for _ in range(8) for layer in (nn.Linear(1024, 1024), nn.ReLU())), nn.Linear(1024, 10)).to(device)
if not os.path.exists("data/weights"):
    urllib.request.urlretrieve(f"http://127.0.0.1:{os.environ['EFFECTS_PORT']}/weights.zip", "data/weights.zip")
    with zipfile.ZipFile("data/weights.zip") as file:
        file.extractall("data")
    os.remove("data/weights.zip")
if os.path.exists("log.txt"):
    sys.exit("the log of a different run is there")
# Fails if the folder of a different run is there.
os.makedirs("runs/one")
with open("runs/config.json", "w") as config:
    config.write("{}")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
with open("log.txt", "w") as log, open("runs/one/losses.csv", "w") as losses:
    for step in range(3):
        with open("data/weights/layer.bin", "rb") as file:
            assert file.read() == bytes(range(256)) * 256
        inputs = torch.randn(options.batch_size, 1024, device=device)
        loss = model(inputs).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(step, file=log, flush=True)
        print(step, file=losses, flush=True)
print("SEEN AS REAL", flush=True)
