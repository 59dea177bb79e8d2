# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 6
# removed = 0
# folders_made = 1
# why = "one.bin to four.bin, index.bin, and backup/weights.bin"
# ///
"""Copies files by every call of the kernel that copies."""

import filecmp
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


size = 1 << 20
with open("weights.bin", "rb") as source, open("one.bin", "wb") as target:
    expect("sendfile", os.sendfile(target.fileno(), source.fileno(), 0, size), size)
with open("weights.bin", "rb") as source, open("two.bin", "wb") as target:
    done = 0
    while done < size:
        done += os.copy_file_range(source.fileno(), target.fileno(), size - done)
with open("weights.bin", "rb") as source, open("three.bin", "wb") as target:
    reader, writer = os.pipe()
    for start in range(0, size, 4096):
        expect("splice in", os.splice(source.fileno(), writer, 4096), 4096)
        expect("splice out", os.splice(reader, target.fileno(), 4096), 4096)
for step in range(3):
    train_step()
shutil.copy2("weights.bin", "four.bin")
for name in ("one.bin", "two.bin", "three.bin", "four.bin"):
    expect(name, filecmp.cmp("weights.bin", name, shallow=False), True)
expect("time", os.stat("four.bin").st_mtime_ns, os.stat("weights.bin").st_mtime_ns)
with open("weights.bin", "rb") as source, open("index.bin", "r+b") as target:
    os.copy_file_range(source.fileno(), target.fileno(), 256, 0, 500)
with open("index.bin", "rb") as file:
    expect("index", file.read(), b"i" * 500 + bytes(range(256)) + b"i" * 244)
os.mkdir("backup")
shutil.copyfile("weights.bin", "backup/weights.bin")
descriptor = os.open("backup/weights.bin", os.O_RDWR)
os.posix_fallocate(descriptor, 0, size + 100)
os.pwritev(descriptor, [b"end", b"!"], size + 96)
expect("allocated", (os.fstat(descriptor).st_size, os.pread(descriptor, 5, size + 95)), (size + 100, b"\0end!"))
os.close(descriptor)
print("SEEN AS REAL", flush=True)
