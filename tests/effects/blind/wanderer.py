# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 4
# removed = 2
# folders_made = 1
# folders_removed = 1
# why = "top.log, sub/renamed.txt, sub/made/new.txt, back.txt; a.txt is renamed, c.txt removed with its folder"
# ///
"""Opens files, changes its folder, and works relative to folders that it holds open."""

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


start = os.getcwd()
log = open("top.log", "a")
sub = os.open("sub", os.O_RDONLY | os.O_DIRECTORY)
os.chdir("sub/deep")
log.write("after the change\n")
log.flush()
expect("log", open("../../top.log").read(), "start\nafter the change\n")
os.mkdir("made", dir_fd=sub)
descriptor = os.open("made/new.txt", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600, dir_fd=sub)
os.write(descriptor, b"new")
os.close(descriptor)
os.rename("a.txt", "renamed.txt", src_dir_fd=sub, dst_dir_fd=sub)
expect("names", sorted(os.listdir(sub)), ["b.txt", "deep", "made", "renamed.txt"])
expect("stat", os.stat("../made/new.txt").st_size, 3)
os.fchdir(sub)
os.unlink("deep/c.txt")
os.rmdir("deep", dir_fd=sub)
expect("folder", os.getcwd(), f"{start}/sub")
expect("scan", sorted(entry.name for entry in os.scandir(".") if entry.is_file()), ["b.txt", "renamed.txt"])
for step in range(3):
    train_step()
with open(f"/proc/self/fd/{sub}/../back.txt", "w") as file:
    file.write("back\n")
os.chdir("..")
expect("back", open(f"{start}/back.txt").read(), "back\n")
expect("walked", sorted(name for _, _, names in os.walk("sub") for name in names), ["b.txt", "new.txt", "renamed.txt"])
print("SEEN AS REAL", flush=True)
