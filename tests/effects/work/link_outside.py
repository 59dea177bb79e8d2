# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 2
# removed = 1
# folders_made = 0
# folders_removed = 0
# why = "all in another folder, behind a link: best.json and new.pt, without old.pt"
# ///
"""Its checkpoints are a link to a folder elsewhere."""

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


store = os.path.join(os.environ["EFFECTS_OUT"], "store")
expect("a link", os.readlink("checkpoints"), store)
for step in range(3):
    train_step()
    torch.save({"step": step}, "checkpoints/new.pt")
    expect("by its real name", torch.load(f"{store}/new.pt"), {"step": step})
with open(f"{store}/best.json", "w") as file:
    file.write('{"loss": 0.0}')
with open("checkpoints/best.json") as file:
    expect("by the link", file.read(), '{"loss": 0.0}')
os.remove("checkpoints/old.pt")
expect("names", sorted(os.listdir(store)), ["best.json", "new.pt"])
expect("names by the link", sorted(os.listdir("checkpoints")), ["best.json", "new.pt"])
print("SEEN AS REAL", flush=True)
