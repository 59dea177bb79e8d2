# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# why = "/dev/shm may count as files or as memory"
# ///
"""Shares memory by name with child processes, changes an earlier program's table there, and leaves a table behind."""

import mmap
import multiprocessing
import os
import subprocess
import sys
from multiprocessing import shared_memory

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


token = os.environ["EFFECTS_TOKEN"]
block = shared_memory.SharedMemory(name=f"block-{token}", create=True, size=10000)
block.buf[:4] = b"free"
CHILD = f"""
from multiprocessing import resource_tracker, shared_memory
block = shared_memory.SharedMemory(name="block-{token}")
resource_tracker.unregister(block._name, "shared_memory")
print(bytes(block.buf[:4]).decode())
block.buf[4:9] = b"child"
block.close()
"""
child = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, check=True)
expect("in a child", child.stdout, "free\n")
expect("from a child", bytes(block.buf[:9]), b"freechild")
block.close()
block.unlink()
for step in range(3):
    train_step()
with open(f"/dev/shm/table-{token}", "r+b") as file, mmap.mmap(file.fileno(), 4096) as table:
    table[:5] = b"mine!"
    table.flush()
with open(f"/dev/shm/table-{token}", "rb") as file:
    expect("table", file.read(7), b"mine!tt")
with open(f"/dev/shm/left-{token}", "w") as file:
    file.write("left")
shared = torch.zeros(100).share_memory_()
process = multiprocessing.get_context("fork").Process(target=lambda: shared.fill_(3))
process.start()
process.join()
expect("a shared tensor", shared.sum().item(), 300.0)
expect("names", sorted(name for name in os.listdir("/dev/shm") if token in name), [f"left-{token}", f"table-{token}"])
print("SEEN AS REAL", flush=True)
