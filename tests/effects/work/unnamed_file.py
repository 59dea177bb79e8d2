# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 2
# removed = 0
# why = "state.json is linked, report.txt is replaced by a link that is renamed over it"
# ///
"""Writes into files without a name (O_TMPFILE), then links the files under names."""

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


def write_unnamed(text, name):
    """Writes `text`, and only then makes the name."""
    descriptor = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o644)
    os.write(descriptor, text.encode())
    expect("links before", os.fstat(descriptor).st_nlink, 0)
    # linkat(2) with AT_SYMLINK_FOLLOW, as open(2) says; Python calls link(2) where no folder is named.
    folder = os.open("/proc/self/fd", os.O_RDONLY)
    os.link(str(descriptor), name, src_dir_fd=folder, follow_symlinks=True)
    expect("links after", os.fstat(descriptor).st_nlink, 1)
    os.close(folder)
    os.close(descriptor)


for step in range(3):
    train_step()
write_unnamed('{"step": 3}', "state.json")
write_unnamed("a new report\n", "report.new")
os.rename("report.new", "report.txt")
for name, text in (("state.json", '{"step": 3}'), ("report.txt", "a new report\n")):
    with open(name) as file:
        expect(name, file.read(), text)
expect("names", sorted(name for name in os.listdir() if name.startswith(("state", "report"))), ["report.txt", "state.json"])
print("SEEN AS REAL", flush=True)
