# /// expect
# run = "check"
# vram = "24GiB"
# verdict = ["fits", "fits so far"]
# written = 3
# removed = 0
# open_functions = "1 file called removed, of 0"
# why = "each of the three names holds something else at the end"
# ///
"""A log that is turned over twice, so that the earlier generations move and fall out."""

import logging
import logging.handlers
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


handler = logging.handlers.RotatingFileHandler("app.log", maxBytes=10000, backupCount=2)
logger = logging.getLogger("app")
logger.addHandler(handler)
logger.setLevel(logging.INFO)
handler.doRollover()
expect("turned", open("app.log.1").read(), "generation 0\n" * 30)
expect("turned twice", open("app.log.2").read(), "generation 1\n" * 30)
logger.info("first")
handler.doRollover()
for step in range(3):
    train_step()
    logger.info("step %d", step)
logging.shutdown()
found = [open(name).read() for name in ("app.log", "app.log.1", "app.log.2")]
expect("logs", found, ["step 0\nstep 1\nstep 2\n", "first\n", "generation 0\n" * 30])
expect("names", sorted(name for name in os.listdir() if "app.log" in name), ["app.log", "app.log.1", "app.log.2"])
print("SEEN AS REAL", flush=True)
