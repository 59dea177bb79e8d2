# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 1
# removed = 0
# why = "all temporary files are removed but one whose name has the token"
# ///
"""Uses each kind of temporary file."""

import os
import subprocess
import sys
import tempfile

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


with tempfile.TemporaryDirectory() as folder:
    torch.save({"step": 0}, f"{folder}/a.pt")
    expect("loaded", torch.load(f"{folder}/a.pt"), {"step": 0})
    listed = subprocess.run(["ls", folder], capture_output=True, text=True, check=True)
    expect("ls", listed.stdout, "a.pt\n")
expect("removed", os.path.exists(folder), False)
with tempfile.NamedTemporaryFile("w+", suffix=".txt") as file:
    file.write("text")
    file.flush()
    expect("by its name", open(file.name).read(), "text")
expect("removed", os.path.exists(file.name), False)
with tempfile.TemporaryFile() as file:
    file.write(b"x" * 100000)
    file.seek(99999)
    expect("no name", file.read(), b"x")
with tempfile.SpooledTemporaryFile(max_size=10) as file:
    file.write(b"more than ten bytes")
    file.seek(5)
    expect("spooled", file.read(), b"than ten bytes")
for step in range(3):
    train_step()
descriptor, path = tempfile.mkstemp(prefix=f"kept-{os.environ['EFFECTS_TOKEN']}-")
os.write(descriptor, b"kept")
os.close(descriptor)
expect("kept", open(path, "rb").read(), b"kept")
print("SEEN AS REAL", flush=True)
