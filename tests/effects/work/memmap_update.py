# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 2
# removed = 0
# ///
"""Changes existing files by shared maps, and reads them by calls, by other maps and by a child."""

import mmap
import subprocess
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


array = np.memmap("embeddings.dat", dtype=np.float32, mode="r+", shape=(1000, 64))
other = np.memmap("embeddings.dat", dtype=np.float32, mode="r", shape=(1000, 64))
for step in range(3):
    train_step()
    array[step] = -1 - step
    expect("another map", other[step].tolist(), [-1.0 - step] * 64)
array.flush()
expect("untouched rows", other[3:6, 0].tolist(), [3.0, 4.0, 5.0])
with open("embeddings.dat", "rb") as file:
    rows = np.frombuffer(file.read(4 * 64 * 4), dtype=np.float32).reshape(4, 64)
expect("by read", rows[:, 0].tolist(), [-1.0, -2.0, -3.0, 3.0])
with open("counters.bin", "r+b") as file, mmap.mmap(file.fileno(), 0) as view:
    view[4096:4100] = b"\x01\x02\x03\x04"
    view.flush()
    seen = subprocess.run(["od", "-An", "-tu1", "-j4096", "-N5", "counters.bin"], capture_output=True, text=True, check=True)
    expect("by a child", seen.stdout.split(), ["1", "2", "3", "4", "0"])
print("SEEN AS REAL", flush=True)
