# /// expect
# run = "check"
# vram = "4GiB"
# verdict = ["does not fit"]
# posts = 1
# reaches_gib = 8
# why = "the post is sent before the request of 8 GiB; a second run must not send it again"
# ///
"""Tells a server that it starts, trains, and then asks for more memory than there is."""

import json
import os
import sys
import urllib.request

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


address = f"http://127.0.0.1:{os.environ['EFFECTS_PORT']}/runs"
try:
    with urllib.request.urlopen(address, data=json.dumps({"name": "run"}).encode(), timeout=20) as answer:
        answer.read()
except OSError as error:
    # Experiment trackers go on without their server.
    print(f"not sent: {error}", file=sys.stderr, flush=True)
for step in range(3):
    train_step()
print("SEEN AS REAL", flush=True)
large = torch.empty(8 << 30, dtype=torch.uint8, device=device)
