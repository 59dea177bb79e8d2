# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 3
# removed = 0
# why = "table.bin by a shared tensor, ring.bin grows under a map, fresh.bin is made by a shared tensor"
# ///
"""Tensors over shared files, a map that grows with its file, a private map that leaves its file alone, and a child that writes into a map."""

import mmap
import os
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


table = torch.from_file("table.bin", shared=True, size=4096, dtype=torch.int32)
fresh = torch.from_file("fresh.bin", shared=True, size=1000, dtype=torch.int32)
for step in range(3):
    train_step()
    table[step] = 100 + step
    fresh[step] = step + 1
with open("table.bin", "rb") as file:
    expect("table", torch.frombuffer(bytearray(file.read(20)), dtype=torch.int32).tolist(), [100, 101, 102, 3, 4])
with open("fresh.bin", "rb") as file:
    expect("fresh", torch.frombuffer(bytearray(file.read()), dtype=torch.int32)[:4].tolist(), [1, 2, 3, 0])

descriptor = os.open("ring.bin", os.O_RDWR)
os.ftruncate(descriptor, 8192)
ring = mmap.mmap(descriptor, 8192, mmap.MAP_SHARED)
expect("old part", ring[4090:4098], b"r" * 6 + b"\0\0")
child = os.fork()
if child == 0:
    ring[5000:5005] = b"child"
    os._exit(0)
expect("child", os.waitpid(child, 0)[1], 0)
expect("what the child wrote", ring[5000:5005], b"child")
private = mmap.mmap(descriptor, 4096, mmap.MAP_PRIVATE)
private[0:4] = b"mine"
expect("by read", (os.pread(descriptor, 4, 0), os.pread(descriptor, 5, 5000)), (b"rrrr", b"child"))
os.close(descriptor)
print("SEEN AS REAL", flush=True)
