# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 2
# removed = 0
# folders_made = 1
# connections = 1
# why = "data/weights with layer.bin and config.json; the archive is removed after it was unpacked"
# ///
"""Downloads, unpacks and removes an archive."""

import os
import sys
import urllib.request
import zipfile

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


if not os.path.exists("data/weights"):
    urllib.request.urlretrieve(f"http://127.0.0.1:{os.environ['EFFECTS_PORT']}/weights.zip", "data/weights.zip")
    with zipfile.ZipFile("data/weights.zip") as file:
        expect("names", file.namelist(), ["weights/layer.bin", "weights/config.json"])
        file.extractall("data")
    os.remove("data/weights.zip")
for step in range(3):
    train_step()
with open("data/weights/layer.bin", "rb") as file:
    expect("layer", file.read(), bytes(range(256)) * 256)
with open("data/weights/config.json") as file:
    expect("config", file.read(), '{"width": 16}')
expect("names", sorted(os.listdir("data")), ["readme.txt", "weights"])
print("SEEN AS REAL", flush=True)
