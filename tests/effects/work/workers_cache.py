# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 8
# removed = 0
# folders_made = 1
# why = "a file for each of eight samples, in samples/"
# ///
"""The workers of a DataLoader write decoded samples, and read them in the second epoch."""

import os
import sys

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

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


class Samples(Dataset):
    """Eight samples, decoded once."""

    def __len__(self):
        return 8

    def __getitem__(self, index):
        path = f"samples/{index}.npy"
        is_cached = os.path.exists(path)
        if not is_cached:
            np.save(path, np.full(16, index))
        return torch.from_numpy(np.load(path)), is_cached


os.makedirs("samples", exist_ok=True)
for epoch in range(2):
    for batch, cached in DataLoader(Samples(), batch_size=4, num_workers=2):
        expect("cached", cached.tolist(), [epoch == 1] * 4)
        expect("width", batch.shape[1], 16)
        train_step()
expect("files", sorted(os.listdir("samples")), [f"{i}.npy" for i in range(8)])
for i in range(8):
    expect("sample", np.load(f"samples/{i}.npy").tolist(), [i] * 16)
print("SEEN AS REAL", flush=True)
